import { CONDITION, failingStep, statusOf } from "./failing-step.ts";
import {
  type JobPlace,
  PLACES,
  writeConcurrency,
  writeFolder,
  writeGate,
  writeMayFail,
  writeStrategy,
} from "./job-keys.ts";
import { StepsWriter, type WorkflowPlace } from "./job-steps.ts";
import { MARKS, NoEqual } from "./marks.ts";
import { type TranslatedMatrix, translateMatrix } from "./matrix.ts";
import type { Names } from "./names.ts";
import { Comment, OutList, OutMap } from "./out.ts";
import { type Runner, translateRunner } from "./runs-on.ts";
import { find, isEmpty, type Pair, pairsOf, tokenText } from "./source.ts";
import { staticFolder, translateEnv, translateName, withEnv, writeIf, writeTimeout } from "./step.ts";

const KNOWN = new Set([
  "name",
  "needs",
  "if",
  "permissions",
  "runs-on",
  "strategy",
  "env",
  "defaults",
  "environment",
  "concurrency",
  "outputs",
  "steps",
  "timeout-minutes",
  "continue-on-error",
  ...PLACES,
]);

class JobWriter {
  readonly #pair: Pair;
  readonly #file: WorkflowPlace;
  readonly #unit: string;
  /**
   * The translation of each key of the workflow's job. The translations form the job here, in the order of the
   * workflow's keys.
   */
  readonly #parts = new Map<string, OutMap>();
  #names: Names;
  /** Why the job may not run its steps before a person has changed it. */
  readonly #reasons: string[] = [];

  constructor(pair: Pair, file: WorkflowPlace) {
    this.#pair = pair;
    this.#file = file;
    this.#unit = `jobs.${pair.key}`;
    this.#names = { ...file.names, job: pair.key, needs: file.needs, hasMoreNeeds: file.hasMoreNeeds };
  }

  get #place(): JobPlace {
    return { names: this.#names, source: this.#file.source, marks: this.#file.marks };
  }

  /** The place for values that are evaluated when the build is planned. */
  get #planned(): JobPlace {
    return { ...this.#place, names: { ...this.#names, isPlanned: true } };
  }

  #find(key: string) {
    return find(this.#pair.value, key);
  }

  #part(key: string): OutMap {
    const part = this.#parts.get(key) ?? new OutMap();
    this.#parts.set(key, part);
    return part;
  }

  /** @throws {NoEqual} for a job that cannot run here */
  write(): OutMap {
    const { source, marks, withdrawn } = this.#file;
    const job = this.#pair.value;
    const refused = withdrawn.get(this.#unit);
    if (refused !== undefined) throw new NoEqual(`a job (${refused})`, "refused");
    if (this.#find("uses")) throw new NoEqual("a job that calls another workflow", "reusable");
    const matrix = this.#matrix();
    const runsOn = this.#find("runs-on");
    const runner = runsOn ? translateRunner(runsOn, this.#planned.names, source, marks) : undefined;
    for (const { key, value, line } of pairsOf(job))
      if (!KNOWN.has(key)) this.#part(key).say(marks.add("unknown", `\`${key}\``, line, source.lines(value, line)));
    this.#when();
    if (matrix) this.#strategy(matrix);
    if (runner) this.#agent(runner);
    this.#places();
    const name = this.#find("name");
    if (name) translateName(name, this.#planned.names, this.#place, this.#part("name"));
    const mayFail = this.#find("continue-on-error");
    if (mayFail) writeMayFail(mayFail, this.#planned, this.#part("continue-on-error"));
    writeTimeout(this.#find("timeout-minutes"), source, marks, this.#part("timeout-minutes"));
    const [environment, concurrency] = [this.#find("environment"), this.#find("concurrency")];
    if (environment) writeGate(environment, this.#planned, this.#part("environment"));
    if (concurrency) writeConcurrency(concurrency, this.#planned, this.#part("concurrency"));
    const ofCheckout = new Map<string, string>();
    const env = translateEnv(this.#find("env"), this.#names, this.#place, `${this.#unit}.env`, withdrawn, ofCheckout);
    if (env?.items.length) this.#part("env").set("env", env);
    this.#names = withEnv(this.#names, this.#find("env"), env, source, ofCheckout);
    const shell = this.#defaults();
    new StepsWriter(this.#file, this.#unit, this.#names, (key) => this.#part(key)).write(
      this.#pair,
      shell,
      this.#reasons,
    );
    return this.#inOrder();
  }

  /** Replaces a job whose steps cannot run. It fails in the cases in which they would have run. */
  fail({ kind, message }: NoEqual): OutMap {
    const { source, marks } = this.#file;
    const { value, line } = this.#pair;
    const out = new OutMap().say(marks.add(kind, message, line, source.lines(value, line)));
    this.#parts.clear();
    this.#when();
    for (const key of ["needs", "if"]) out.items.push(...this.#part(key).items);
    const reasons = [MARKS[kind].reason, ...this.#reasons];
    return out.set("checkout", false).set("steps", new OutList().add(failingStep(reasons.join("\n"))));
  }

  #inOrder(): OutMap {
    const out = new OutMap();
    for (const { key, line } of pairsOf(this.#pair.value)) {
      const { items } = this.#part(key);
      if (items.length > 0) out.say(...this.#file.source.commentsOn(line)).items.push(...items);
    }
    return out;
  }

  /** Writes the job's needs and its condition. */
  #when(): void {
    const { needs, withdrawn } = this.#file;
    if (needs.length > 0)
      this.#part("needs").set(
        "needs",
        needs.map(({ key }) => key),
        this.#unit,
      );
    const refused = withdrawn.get(`${this.#unit}.if`);
    const isLost = writeIf(this.#pair.value, this.#names, this.#place, this.#part("if"), refused, this.#unit);
    if (!isLost) return;
    this.#reasons.push(CONDITION.ofJob);
    this.#part("if").set("if", statusOf(this.#pair.value, this.#file.source));
  }

  #matrix(): TranslatedMatrix | undefined {
    const strategy = this.#find("strategy");
    const token = find(strategy, "matrix");
    if (!token) return undefined;
    const matrix = translateMatrix(token, this.#file.source, this.#file.marks);
    this.#names = { ...this.#names, matrix: matrix.keys };
    return matrix;
  }

  #strategy(matrix: TranslatedMatrix): void {
    this.#part("strategy").set("matrix", matrix.out, this.#unit);
    writeStrategy(this.#find("strategy")!, this.#place, this.#part("strategy"));
  }

  #agent({ comments, requires, condition }: Runner): void {
    const part = this.#part("runs-on").say(...comments);
    if (!requires.isEmpty) part.set("requires", requires);
    if (condition !== null) this.#onlyIf(condition);
  }

  /**
   * Keeps steps for a container, or beside services, from running on the agent until a person allows it. In their own
   * environment they may remove and install anything.
   */
  #places(): void {
    const { source, marks } = this.#file;
    for (const { key, value, line } of pairsOf(this.#pair.value)) {
      const kind = PLACES.find((place) => place === key);
      if (!kind || isEmpty(value, source)) continue;
      this.#part(kind).say(marks.add(kind, `\`${kind}\``, line, source.lines(value, line)));
      this.#reasons.push(MARKS[kind].reason);
    }
  }

  /** Adds a condition to the job's own. */
  #onlyIf(condition: string): void {
    const own = this.#part("if").items.find((item) => !(item instanceof Comment) && item.key === "if");
    if (!own || own instanceof Comment) this.#part("runs-on").set("if", condition);
    else own.value = `(${String(own.value)}) && ${condition}`;
  }

  /** Writes the folder of the steps. @returns the shell that the job names for them */
  #defaults(): string | undefined {
    const { source, shell: outer } = this.#file;
    const run = find(this.#find("defaults"), "run");
    const shell = find(run, "shell");
    const folder = find(run, "working-directory");
    if (folder) {
      writeFolder(folder, this.#place, this.#part("defaults"));
      this.#names = { ...this.#names, folder: staticFolder(folder, source) };
    }
    return shell ? tokenText(shell, source) : outer;
  }
}

/** Translates a job. A job that cannot run becomes one that fails with the reason. */
export const translateJob = (pair: Pair, file: WorkflowPlace): OutMap => {
  const before = file.marks.list.length;
  try {
    return new JobWriter(pair, file).write();
  } catch (error) {
    if (!(error instanceof NoEqual)) throw error;
    file.marks.list.length = before;
    return new JobWriter(pair, file).fail(error);
  }
};
