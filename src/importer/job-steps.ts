import { KNOWS } from "./actions.ts";
import { translateCheckout } from "./checkout.ts";
import { writeOutputs } from "./job-keys.ts";
import { KeptFiles } from "./kept-files.ts";
import { type Marks, NoEqual } from "./marks.ts";
import type { Names, NeededJob, StepFate } from "./names.ts";
import { Comment, OutList, OutMap } from "./out.ts";
import { find, itemsOf, lineOf, type Pair, type Source } from "./source.ts";
import { type ReadStep, readStep, translateStep } from "./step.ts";
import { translateTool } from "./tool-versions.ts";

/* The steps of one job, and the keys of the job that some of them become: `checkout`, `tools`, and those of kept files. */

/** What the file says of all its jobs. */
export interface WorkflowPlace {
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

/** What a job of which nothing is left does. */
export const nothingToRun = (): OutMap => new OutMap().set("name", "No step was taken over").set("run", "exit 1");

/** Writes the steps of one job, the keys that some of them become, and the outputs, which read the steps. */
export class StepsWriter {
  readonly #file: WorkflowPlace;
  readonly #unit: string;
  readonly #job: OutMap;
  readonly #list = new OutList();
  readonly #tools = new OutMap();
  readonly #keptFiles = new KeptFiles();
  /** What a step can name: each step with an id is added after it. */
  #names: Names;

  /** `job` is what is written of the job so far; `unit` is its own. */
  constructor(file: WorkflowPlace, unit: string, names: Names, job: OutMap) {
    this.#file = file;
    this.#unit = unit;
    this.#names = names;
    this.#job = job;
  }

  write({ value: job, line }: Pair, shell: string | undefined): void {
    const { source, marks, withdrawn } = this.#file;
    const steps = itemsOf(find(job, "steps")).map((token) => readStep(token, source));
    const firstCheckout = steps.find(({ kind }) => kind === "checkout");
    for (const [index, step] of steps.entries()) {
      const fate = this.#step(step, `${this.#unit}.steps.${index}`, shell, step === firstCheckout);
      if (step.id !== null) this.#names = { ...this.#names, steps: [...this.#names.steps, { id: step.id, fate }] };
    }
    if (!firstCheckout) this.#job.set("checkout", false);
    if (!this.#tools.isEmpty) this.#writeTools(line);
    this.#keptFiles.writeTo(this.#job);
    const outputs = find(job, "outputs");
    const place = { names: this.#names, source, marks };
    if (outputs) writeOutputs(outputs, place, this.#job, `${this.#unit}.outputs`, withdrawn);
    if (this.#list.isEmpty) {
      // A job that only fetched its files has done all that it had to do; of any other nothing is left to run.
      if (steps.every(({ kind }) => kind === "checkout" || kind === "set-up" || kind === "keeping"))
        this.#list.add(new OutMap().set("run", "true"));
      else this.#stop(line);
    }
    this.#job.set("steps", this.#list);
  }

  /** @returns what later steps may take it for */
  #step(step: ReadStep, unit: string, shell: string | undefined, isFirstCheckout: boolean): StepFate {
    const { source, marks, withdrawn } = this.#file;
    const line = lineOf(step.token);
    const comment = source.commentAbove(line);
    if (step.kind === "checkout") {
      this.#checkout(step, isFirstCheckout, line);
      this.#list.say(comment);
      return "lost";
    }
    if (step.kind === "set-up") {
      this.#list.say(comment, this.#setUp(step, line));
      return "lost";
    }
    if (step.kind === "keeping") {
      this.#list.say(comment, this.#keepFiles(step, unit, line));
      return step.fate;
    }
    this.#list.say(comment);
    const translation = translateStep(step, { names: this.#names, shell, source, marks }, unit, withdrawn);
    if (translation instanceof Comment) {
      this.#list.say(translation);
      return step.fate === "kept" ? "lost" : step.fate;
    }
    this.#list.add(translation, unit);
    return "kept";
  }

  /** Lets the job never run, with the marks on what it would have done. */
  #stop(line: number): void {
    const job = this.#job;
    const at = job.items.findIndex((item) => !(item instanceof Comment) && item.key === "if");
    if (at >= 0) job.items.splice(at, 1);
    job.say(this.#file.marks.add("empty", "a job of which no step was taken over", line)).set("if", false);
    this.#list.add(nothingToRun());
  }

  #checkout(step: ReadStep, isFirst: boolean, line: number): void {
    const { source, marks } = this.#file;
    const isLate = this.#list.items.some((item) => !(item instanceof Comment));
    if (!isFirst || find(step.token, "if") || isLate)
      this.#list.say(
        marks.add(
          "checkout",
          isFirst ? "a checkout later, or under a condition" : "a second checkout",
          line,
          source.lines(step.token, line),
        ),
      );
    if (!isFirst) return;
    const { checkout, comments } = translateCheckout(step.inputs, source, marks);
    this.#job.say(...comments);
    if (!checkout.isEmpty) this.#job.set("checkout", checkout);
  }

  #keepFiles(step: ReadStep, unit: string, line: number): Comment | undefined {
    const { source, marks, withdrawn, jobsLeaving } = this.#file;
    try {
      const refused = withdrawn.get(unit);
      if (refused !== undefined) throw new NoEqual(`${step.action} (${refused})`, "refused");
      this.#keptFiles.add(step, unit, { names: this.#names, source, jobsLeaving });
      return undefined;
    } catch (error) {
      if (!(error instanceof NoEqual)) throw error;
      const what = error.kind === "refused" ? error.message : `${step.action} with ${error.message}`;
      return marks.add(error.kind, what, line, source.lines(step.token, line));
    }
  }

  #setUp(step: ReadStep, line: number): Comment | undefined {
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
      if (this.#tools.has(tool)) throw new NoEqual(`${tool} a second time`, "tool");
      this.#job.say(...comments);
      if (tool !== "") this.#tools.set(tool, version ?? "auto");
      return undefined;
    } catch (error) {
      if (!(error instanceof NoEqual)) throw error;
      marks.list.length = before;
      return marks.add(error.kind, error.message, line, source.lines(step.token, line));
    }
  }

  /** `tools: auto` stands alone: it reads the versions of all tools. */
  #writeTools(line: number): void {
    const { marks, withdrawn } = this.#file;
    const tools = this.#tools;
    const pairs = tools.items.filter((item) => !(item instanceof Comment));
    const words = pairs.map((item) => ("key" in item ? `${item.key}: ${String(item.value)}` : "")).join(", ");
    const refused = withdrawn.get(`${this.#unit}.tools`);
    const isMixed = pairs.length > 1 && pairs.some((item) => "value" in item && item.value === "auto");
    if (!KNOWS.tools) this.#job.say(marks.add("tools-later", `tools: { ${words} }`, line));
    else if (refused !== undefined) this.#job.say(marks.add("refused", `tools: { ${words} } (${refused})`, line));
    else if (isMixed) this.#job.say(marks.add("tool", `\`tools: auto\` beside others: { ${words} }`, line));
    else if (pairs.some((item) => "value" in item && item.value === "auto"))
      this.#job.set("tools", "auto", `${this.#unit}.tools`);
    else this.#job.set("tools", tools, `${this.#unit}.tools`);
  }
}
