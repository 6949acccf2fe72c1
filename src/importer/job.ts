import { KNOWS } from "./actions.ts";
import { translateCheckout } from "./checkout.ts";
import {
  type JobPlace,
  markedKey,
  markedKeys,
  writeConcurrency,
  writeGate,
  writeMayFail,
  writeOutputs,
  writeStrategy,
} from "./job-keys.ts";
import { KeptFiles } from "./kept-files.ts";
import { type Marks, NoEqual } from "./marks.ts";
import { type TranslatedMatrix, translateMatrix } from "./matrix.ts";
import type { Names, NeededJob } from "./names.ts";
import { Comment, OutList, OutMap } from "./out.ts";
import { type Runner, translateRunner } from "./runs-on.ts";
import type { Source } from "./source.ts";
import { type ReadStep, readStep, translateEnv, translateName, translateStep, writeIf, writeTimeout } from "./step.ts";
import { find, isExpression, itemsOf, lineOf, type Pair, pairsOf, readText } from "./tokens.ts";
import { translateTool } from "./tool-versions.ts";

/* One job. */

/** What the file says of all its jobs. */
interface FilePlace {
  source: Source;
  marks: Marks;
  withdrawn: ReadonlyMap<string, string>;
  workflow: string;
  hasPulls: boolean;
  env: string[];
  shell: string | undefined;
  /** The jobs that each job needs, with what they have. */
  needs: NeededJob[];
  hasMoreNeeds: boolean;
  /** By the name of an artifact: the jobs that leave it. */
  jobsLeaving: ReadonlyMap<string, string[]>;
}

const KNOWN = new Set([
  ...[
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
  ],
  ...["timeout-minutes", "continue-on-error", ...markedKeys],
]);

/** A job of which nothing runs: what needs it does not run either. */
const emptyJob = (needs: NeededJob[], mark: Comment): OutMap => {
  const job = new OutMap().say(mark);
  job.set("needs", needs.length > 0 ? needs.map(({ key }) => key) : undefined);
  return job.set("if", false).set("checkout", false).set("steps", new OutList().add(nothingToRun()));
};

const nothingToRun = (): OutMap => new OutMap().set("name", "No step was taken over").set("run", "exit 1");

class JobWriter {
  readonly #pair: Pair;
  readonly #file: FilePlace;
  readonly #unit: string;
  readonly out = new OutMap();
  #names: Names;

  constructor(pair: Pair, file: FilePlace) {
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
    const { value: job, line } = this.#pair;
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
    this.#steps(shell, line);
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
        new OutMap().set("run", new OutMap().set("working-directory", readText(folder, source))),
      );
    return shell ? readText(shell, source) : outer;
  }

  #steps(shell: string | undefined, line: number): void {
    const { source, marks, withdrawn } = this.#file;
    const steps = itemsOf(this.#find("steps")).map((token) => readStep(token, source));
    const list = new OutList();
    const tools = new OutMap();
    const keptFiles = new KeptFiles();
    const checkouts = steps.filter(({ kind }) => kind === "checkout");
    for (const [index, step] of steps.entries()) {
      const unit = `${this.#unit}.steps.${index}`;
      const at = lineOf(step.token);
      const comment = source.commentAbove(at);
      if (step.kind === "checkout") list.say(comment, this.#checkout(step, step === checkouts[0], list));
      else if (step.kind === "set-up") list.say(comment, this.#setUp(step, tools, at));
      else if (step.kind === "keeping") list.say(comment, this.#keepFiles(step, keptFiles, unit, at));
      else {
        list.say(comment);
        const place = { names: this.#names, shell, source, marks };
        const translation = translateStep(step, place, unit, withdrawn);
        if (translation instanceof Comment) list.say(translation);
        else list.add(translation, unit);
        const fate = translation instanceof Comment ? (step.fate === "kept" ? "lost" : step.fate) : "kept";
        if (step.id !== null) this.#keep(step.id, fate);
      }
      if ((step.kind === "checkout" || step.kind === "set-up") && step.id !== null) this.#keep(step.id, "lost");
      if (step.kind === "keeping" && step.id !== null) this.#keep(step.id, step.fate);
    }
    if (checkouts.length === 0) this.out.set("checkout", false);
    if (!tools.isEmpty) this.#tools(tools, line);
    keptFiles.writeTo(this.out);
    const outputs = this.#find("outputs");
    if (outputs) writeOutputs(outputs, this.#place, this.out, `${this.#unit}.outputs`, withdrawn);
    if (list.isEmpty) {
      // A job that only fetched its files has done all that it had to do; of any other nothing is left to run.
      if (steps.every(({ kind }) => kind === "checkout" || kind === "set-up" || kind === "keeping"))
        list.add(new OutMap().set("run", "true"));
      else this.#stop(list, line);
    }
    this.out.set("steps", list);
  }

  /** Lets the job never run, with the marks on what it would have done. */
  #stop(list: OutList, line: number): void {
    const { out } = this;
    const at = out.items.findIndex((item) => !(item instanceof Comment) && item.key === "if");
    if (at >= 0) out.items.splice(at, 1);
    out.say(this.#file.marks.add("empty", "a job of which no step was taken over", line)).set("if", false);
    list.add(nothingToRun());
  }

  #keep(id: string, fate: Names["steps"][number]["fate"]): void {
    this.#names = { ...this.#names, steps: [...this.#names.steps, { id, fate }] };
  }

  #checkout(step: ReadStep, isFirst: boolean, list: OutList): Comment | undefined {
    const { source, marks } = this.#file;
    const line = lineOf(step.token);
    const isLate = list.items.some((item) => !(item instanceof Comment));
    if (!isFirst || find(step.token, "if") || isLate)
      list.say(
        marks.add(
          "checkout",
          isFirst ? "a checkout later, or under a condition" : "a second checkout",
          line,
          source.lines(step.token, line),
        ),
      );
    if (!isFirst) return undefined;
    const { checkout, comments } = translateCheckout(step.inputs, source, marks);
    this.out.say(...comments);
    if (!checkout.isEmpty) this.out.set("checkout", checkout);
    return undefined;
  }

  #keepFiles(step: ReadStep, keptFiles: KeptFiles, unit: string, line: number): Comment | undefined {
    const { source, marks, withdrawn, jobsLeaving } = this.#file;
    try {
      const refused = withdrawn.get(unit);
      if (refused !== undefined) throw new NoEqual(`${step.action} (${refused})`, "refused");
      keptFiles.add(step, unit, { names: this.#names, source, jobsLeaving });
      return undefined;
    } catch (error) {
      if (!(error instanceof NoEqual)) throw error;
      const what = error.kind === "refused" ? error.message : `${step.action} with ${error.message}`;
      return marks.add(error.kind, what, line, source.lines(step.token, line));
    }
  }

  #setUp(step: ReadStep, tools: OutMap, line: number): Comment | undefined {
    const { source, marks } = this.#file;
    const before = marks.list.length;
    try {
      if (find(step.token, "if")) throw new NoEqual(`${step.action} under a condition`, "tool");
      const { tool, version, comments } = translateTool(
        { action: step.action, inputs: step.inputs, line },
        this.#names,
        source,
        marks,
      );
      if (tools.has(tool)) throw new NoEqual(`${tool} a second time`, "tool");
      this.out.say(...comments);
      if (tool !== "") tools.set(tool, version ?? "auto");
      return undefined;
    } catch (error) {
      if (!(error instanceof NoEqual)) throw error;
      marks.list.length = before;
      return marks.add(error.kind, error.message, line, source.lines(step.token, line));
    }
  }

  /** `tools: auto` stands alone: it reads the versions of all tools. */
  #tools(tools: OutMap, line: number): void {
    const { marks, withdrawn } = this.#file;
    const pairs = tools.items.filter((item) => !(item instanceof Comment));
    const words = pairs.map((item) => ("key" in item ? `${item.key}: ${String(item.value)}` : "")).join(", ");
    const refused = withdrawn.get(`${this.#unit}.tools`);
    const isMixed = pairs.length > 1 && pairs.some((item) => "value" in item && item.value === "auto");
    if (!KNOWS.tools) this.out.say(marks.add("tools-later", `tools: { ${words} }`, line));
    else if (refused !== undefined) this.out.say(marks.add("refused", `tools: { ${words} } (${refused})`, line));
    else if (isMixed) this.out.say(marks.add("tool", `\`tools: auto\` beside others: { ${words} }`, line));
    else if (pairs.some((item) => "value" in item && item.value === "auto"))
      this.out.set("tools", "auto", `${this.#unit}.tools`);
    else this.out.set("tools", tools, `${this.#unit}.tools`);
  }
}

/** A job; where it cannot run, one that never runs, with the reason. */
export const translateJob = (pair: Pair, file: FilePlace): OutMap => {
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
