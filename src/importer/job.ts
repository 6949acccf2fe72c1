import {
  type JobPlace,
  markedKey,
  markedKeys,
  writeConcurrency,
  writeGate,
  writeMayFail,
  writeStrategy,
} from "./job-keys.ts";
import { nothingToRun, StepsWriter, type WorkflowPlace } from "./job-steps.ts";
import { NoEqual } from "./marks.ts";
import { type TranslatedMatrix, translateMatrix } from "./matrix.ts";
import type { Names, NeededJob } from "./names.ts";
import { Comment, OutList, OutMap } from "./out.ts";
import { type Runner, translateRunner } from "./runs-on.ts";
import { find, isExpression, lineOf, type Pair, pairsOf, tokenText } from "./source.ts";
import { translateEnv, translateName, writeIf, writeTimeout } from "./step.ts";

/* One job. */

const KNOWN = new Set([
  "name",
  "needs",
  "if",
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
  ...markedKeys,
]);

/** A job of which nothing runs: what needs it does not run either. */
const emptyJob = (needs: NeededJob[], mark: Comment): OutMap => {
  const job = new OutMap().say(mark);
  job.set("needs", needs.length > 0 ? needs.map(({ key }) => key) : undefined);
  return job.set("if", false).set("checkout", false).set("steps", new OutList().add(nothingToRun()));
};

class JobWriter {
  readonly #pair: Pair;
  readonly #file: WorkflowPlace;
  readonly #unit: string;
  readonly out = new OutMap();
  #names: Names;

  constructor(pair: Pair, file: WorkflowPlace) {
    this.#pair = pair;
    this.#file = file;
    this.#unit = `jobs.${pair.key}`;
    const { workflow, hasPulls, needs, hasMoreNeeds, env } = file;
    const none = { steps: [], wrongEnv: [], isStrict: true };
    this.#names = { workflow, job: pair.key, hasPulls, matrix: [], needs, hasMoreNeeds, env, ...none };
  }

  get #place(): JobPlace {
    return { names: this.#names, source: this.#file.source, marks: this.#file.marks };
  }

  /** For what is evaluated when the build is planned. */
  get #planned(): JobPlace {
    return { ...this.#place, names: { ...this.#names, isPlanned: true } };
  }

  #find(key: string) {
    return find(this.#pair.value, key);
  }

  /** @throws {NoEqual} for a job that cannot run here */
  write(): OutMap {
    const { source, marks, withdrawn, needs } = this.#file;
    const job = this.#pair.value;
    const refused = withdrawn.get(this.#unit);
    if (refused !== undefined) throw new NoEqual(`a job (${refused})`, "refused");
    if (this.#find("uses")) throw new NoEqual("a job that calls another workflow", "reusable");
    const matrix = this.#matrix();
    const runsOn = this.#find("runs-on");
    const runner = runsOn ? translateRunner(runsOn, this.#planned.names, source, marks) : undefined;
    const { out } = this;
    const name = this.#find("name");
    if (name) translateName(name, this.#planned.names, this.#place, out);
    for (const pair of pairsOf(job)) {
      markedKey(pair, this.#place, out);
      if (!KNOWN.has(pair.key))
        out.say(marks.add("unknown", `\`${pair.key}\``, pair.line, source.lines(pair.value, pair.line)));
    }
    if (needs.length > 0)
      out.set(
        "needs",
        needs.map(({ key }) => key),
        this.#unit,
      );
    writeIf(job, this.#names, this.#place, out, withdrawn.get(`${this.#unit}.if`), this.#unit);
    if (matrix) this.#strategy(matrix);
    this.#agent(runner);
    const mayFail = this.#find("continue-on-error");
    if (mayFail) writeMayFail(mayFail, this.#planned, out);
    writeTimeout(this.#find("timeout-minutes"), source, marks, out);
    const [environment, concurrency] = [this.#find("environment"), this.#find("concurrency")];
    if (environment) writeGate(environment, this.#planned, out);
    if (concurrency) writeConcurrency(concurrency, this.#planned, out);
    const env = translateEnv(this.#find("env"), this.#names, this.#place, `${this.#unit}.env`, withdrawn);
    if (env) out.set("env", env);
    this.#names = { ...this.#names, env: [...this.#names.env, ...pairsOf(this.#find("env")).map(({ key }) => key)] };
    const shell = this.#defaults();
    new StepsWriter(this.#file, this.#unit, this.#names, out).write(this.#pair, shell);
    return out;
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
    this.out.set("matrix", matrix.out, this.#unit);
    writeStrategy(this.#find("strategy")!, this.#place, this.out);
  }

  #agent(runner: Runner | undefined): void {
    if (!runner) return;
    this.out.say(...runner.comments);
    if (!runner.requires.isEmpty) this.out.set("requires", runner.requires);
    if (runner.condition !== null) this.#onlyIf(runner.condition);
  }

  #onlyIf(condition: string): void {
    const ifItem = this.out.items.find((item) => !(item instanceof Comment) && item.key === "if");
    if (!ifItem || ifItem instanceof Comment) this.out.set("if", condition);
    else if (ifItem.value !== false) ifItem.value = `(${String(ifItem.value)}) && ${condition}`;
  }

  /** The folder of the steps. @returns the shell that the job names for them */
  #defaults(): string | undefined {
    const { source, shell: outer, marks } = this.#file;
    const run = find(this.#find("defaults"), "run");
    const shell = find(run, "shell");
    const folder = find(run, "working-directory");
    if (folder && isExpression(folder))
      this.out.say(
        marks.add("expression", "`working-directory` that is computed", lineOf(folder), source.lines(folder)),
      );
    else if (folder)
      this.out.set(
        "defaults",
        new OutMap().set("run", new OutMap().set("working-directory", tokenText(folder, source))),
      );
    return shell ? tokenText(shell, source) : outer;
  }
}

/** A job; where it cannot run, one that never runs, with the reason. */
export const translateJob = (pair: Pair, file: WorkflowPlace): OutMap => {
  const before = file.marks.list.length;
  try {
    return new JobWriter(pair, file).write();
  } catch (error) {
    if (!(error instanceof NoEqual)) throw error;
    file.marks.list.length = before;
    const { value, line } = pair;
    return emptyJob(file.needs, file.marks.add(error.kind, error.message, line, file.source.lines(value, line)));
  }
};
