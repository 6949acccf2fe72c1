import { keepingKey } from "./actions.ts";
import { checkoutInFolder, mayLook, readsTemp, settingStep, translateCheckout } from "./checkout.ts";
import { outputsOf, placeSteps, type StepOfCalls } from "./composite.ts";
import {
  CONDITION,
  conditionOf,
  failFirst,
  failingStep,
  isNeeded,
  isNeverTrue,
  nameOf,
  statusOf,
} from "./failing-step.ts";
import { writeOutputs } from "./job-keys.ts";
import { JobTools, stableTexts } from "./job-tools.ts";
import { type KeepingPlace, KeptFiles } from "./kept-files.ts";
import { cacheEntry, type KnownCache } from "./known-caches.ts";
import { MARKS, type MarkKind, type Marks, NoEqual } from "./marks.ts";
import type { Names, NeededJob, StepFate } from "./names.ts";
import { Comment, OutList, OutMap } from "./out.ts";
import { addRequirement } from "./runs-on.ts";
import { translateSetUp } from "./set-up.ts";
import type { Commands } from "./set-up-rules.ts";
import { find, itemsOf, lineOf, type Pair, type Source } from "./source.ts";
import { type ReadStep, readStep, translateStep } from "./step.ts";
import { uploadCommands } from "./upload-step.ts";

/* A job's steps, and the keys that some of them become: `checkout`, `tools`, and keys for kept files. */

/** What the file says about all its jobs. */
export interface WorkflowPlace {
  source: Source;
  marks: Marks;
  withdrawn: ReadonlyMap<string, string>;
  /** Names that every job can use. */
  names: Names;
  shell: string | undefined;
  /** The jobs that each job needs, with their properties. */
  needs: NeededJob[];
  hasMoreNeeds: boolean;
  /** The artifacts that its jobs keep. */
  artifacts: KeepingPlace["artifacts"];
}

/** Writes a job's steps, the keys that some of them become, and the outputs that read the steps. */
export class StepsWriter {
  /** For an action's step, the source is the action. */
  #file: WorkflowPlace;
  readonly #unit: string;
  readonly #part: (key: string) => OutMap;
  readonly #list = new OutList();
  readonly #tools = new JobTools();
  readonly #keptFiles = new KeptFiles();
  /** Whether an earlier step may have read the checkout's folder. On GitHub it is empty until the checkout. */
  #hasLooked = false;
  #hasCheckout = false;
  /** Names that a step can use. Each step with an id is added after it. */
  #names: Names;

  /** `part` returns the translation of a key of the workflow's job; `unit` is the job's own. */
  constructor(file: WorkflowPlace, unit: string, names: Names, part: (key: string) => OutMap) {
    this.#file = file;
    this.#unit = unit;
    this.#names = names;
    this.#part = part;
  }

  get #keeping(): KeepingPlace {
    return { names: this.#names, source: this.#file.source, artifacts: this.#file.artifacts };
  }

  /** The keys before the steps. */
  get #job(): OutMap {
    return this.#part("steps");
  }

  /** Writes the steps. `reasons` say why the job may not run any of them yet. */
  write({ value: job, line }: Pair, shell: string | undefined, reasons: readonly string[]): void {
    const { source, marks, withdrawn } = this.#file;
    const own = itemsOf(find(job, "steps")).map((token) => ({ step: readStep(token, source), source, calls: [] }));
    const placed = placeSteps(own);
    const steps = placed.map(({ step }) => step);
    const ofCheckout = this.#names.ofCheckout ?? new Map<string, string>();
    const set = placed.some(readsTemp) ? new Map([...ofCheckout, ["RUNNER_TEMP", "$(mktemp -d)"]]) : ofCheckout;
    this.#names = {
      ...this.#names,
      env: [...this.#names.env, ...set.keys()],
      wrongEnv: this.#names.wrongEnv.filter((key) => !ofCheckout.has(key)),
      texts: stableTexts(this.#names.texts ?? new Map(), placed),
    };
    const firstCheckout = steps.find(({ kind }) => kind === "checkout");
    const isAgain = (step: ReadStep) => checkoutInFolder(step, source)?.kind === "checkout-again";
    this.#hasCheckout = firstCheckout !== undefined || steps.some(isAgain);
    for (const [index, one] of placed.entries())
      this.#placed(one, `${this.#unit}.steps.${index}`, shell, one.step === firstCheckout);
    if (!this.#hasCheckout) this.#job.set("checkout", false);
    this.#tools.writeTo(this.#job, this.#file, this.#unit, line);
    this.#keptFiles.writeTo(this.#job);
    const outputs = find(job, "outputs");
    const place = { names: this.#names, source, marks };
    if (outputs) writeOutputs(outputs, place, this.#part("outputs"), `${this.#unit}.outputs`, withdrawn);
    if (this.#list.isEmpty) {
      // A job that only fetched its files has done all its work. Any other job has nothing left to run.
      if (steps.every(({ kind }) => kind === "checkout" || kind === "set-up" || kind === "keeping"))
        this.#list.add(new OutMap().set("run", "true"));
      else this.#stop(line);
    }
    if (set.size > 0) this.#list.items.unshift({ value: settingStep(set, this.#names.folder !== "") });
    if (reasons.length > 0) failFirst(this.#list, reasons);
    this.#job.set("steps", this.#list);
  }

  /** Writes a step of the job, or of an action that the job uses. */
  #placed(
    { step, source, calls }: StepOfCalls,
    unit: string,
    shell: string | undefined,
    isFirstCheckout: boolean,
  ): void {
    const file = this.#file;
    const { marks } = file;
    const [call] = calls;
    const line = call && lineOf(call.step.token);
    const before = marks.list.length;
    if (call?.isFirst) {
      this.#list.say(...file.source.commentsOn(line!), new Comment([`The steps of ${call.step.action}:`]));
    }
    // An action works in the checkout.
    const { folder } = this.#names;
    this.#file = { ...file, source };
    if (call) this.#names = { ...this.#names, folder: "", isOfAction: folder !== "" };
    const fate = this.#step(step, unit, shell, isFirstCheckout);
    this.#hasLooked ||= step.kind !== "set-up" && step.kind !== "later" && mayLook(step, source);
    this.#file = file;
    if (call) this.#names = { ...this.#names, folder, isOfAction: false };
    if (line !== undefined) for (const mark of marks.list.slice(before)) mark.line = line;
    if (step.id !== null) this.#addName({ id: step.id, fate });
    for (const one of calls.toReversed())
      if (one.isLast && one.step.id !== null)
        this.#addName({ id: one.step.id, fate: "kept", outputs: outputsOf(one, this.#names) });
  }

  #addName(step: Names["steps"][number]): void {
    this.#names = { ...this.#names, steps: [...this.#names.steps, step] };
  }

  /** @returns what later steps can expect of this step */
  #step(step: ReadStep, unit: string, shell: string | undefined, isFirstCheckout: boolean): StepFate {
    const { source, marks, withdrawn } = this.#file;
    const line = lineOf(step.token);
    this.#list.say(...source.commentsOn(line));
    if (step.kind === "checkout") {
      this.#checkout(step, isFirstCheckout, this.#hasLooked, line);
      return "lost";
    }
    if (step.kind === "set-up") {
      this.#setUp(step, unit, line);
      return "lost";
    }
    if (step.kind === "keeping") {
      this.#say(this.#keepFiles(step, unit, line), step, unit);
      return step.fate;
    }
    const fetched = checkoutInFolder(step, source);
    const translation = fetched
      ? this.#commands(step, unit, fetched.commands)
      : translateStep(step, { names: this.#names, shell, source, marks }, unit, withdrawn);
    if (translation instanceof Comment) {
      this.#say(translation, step, unit);
      return step.fate === "kept" ? "lost" : step.fate;
    }
    if (fetched) this.#list.say(marks.add(fetched.kind, step.action, line, source.lines(step.token, line)));
    this.#add(translation, step, unit);
    return fetched ? "lost" : "kept";
  }

  /** Adds a step. One whose condition is untranslatable never runs, so a failing step precedes it. */
  #add(translation: OutMap, step: ReadStep, unit: string): void {
    const { source } = this.#file;
    if (isNeverTrue(translation) && isNeeded(step, "expression", this.#keeping))
      this.#list.add(failingStep(CONDITION.ofStep, undefined, new OutMap().set("if", statusOf(step.token, source))));
    this.#list.add(translation, unit);
  }

  /**
   * Adds a step's mark. If later steps may need the step, also adds a failing step in its place, so that they do not
   * run without its work. Such a step sets something up, fetches files, tests, or decides whether the job continues.
   */
  #say(mark: Comment | undefined, step: ReadStep, unit: string): void {
    this.#list.say(mark);
    const { kind } = mark ?? {};
    if (kind === undefined || !isNeeded(step, kind, this.#keeping)) return;
    const { reason } = MARKS[kind as MarkKind];
    this.#list.add(
      failingStep(reason, nameOf(step, unit, this.#file), conditionOf(step, unit, this.#names, this.#file)),
      unit,
    );
  }

  /** Makes the job fail. Marks say what it would have done. */
  #stop(line: number): void {
    const { marks } = this.#file;
    this.#list.say(marks.add("empty", "a job without a translated step", line));
    this.#list.add(failingStep(MARKS.empty.reason));
  }

  #checkout(step: ReadStep, isFirst: boolean, isLate: boolean, line: number): void {
    const { source, marks } = this.#file;
    const kind = isFirst ? "checkout-first" : "checkout";
    const what = isFirst ? "a checkout under a condition, or after other steps" : "a second checkout";
    if (!isFirst || find(step.token, "if") || isLate)
      this.#list.say(marks.add(kind, what, line, source.lines(step.token, line)));
    if (!isFirst) return;
    const { checkout, comments } = translateCheckout(step.inputs, source, marks);
    this.#job.say(...comments);
    if (!checkout.isEmpty) this.#job.set("checkout", checkout);
  }

  #keepFiles(step: ReadStep, unit: string, line: number): Comment | undefined {
    const { source, marks, withdrawn } = this.#file;
    try {
      const refused = withdrawn.get(unit);
      if (refused !== undefined) throw new NoEqual(`${step.action} (${refused})`, "refused");
      this.#keptFiles.add(step, unit, this.#keeping);
      return undefined;
    } catch (error) {
      if (!(error instanceof NoEqual)) throw error;
      if (error.kind === "artifact" && this.#uploadInPlace(step, unit)) return undefined;
      const what = error.kind === "refused" ? error.message : `${step.action} with ${error.message}`;
      return marks.add(error.kind, what, line, source.lines(step.token, line));
    }
  }

  /** Keeps files in the step's own place. Returns false if even there its name or condition has no equivalent. */
  #uploadInPlace(step: ReadStep, unit: string): boolean {
    const { source, marks } = this.#file;
    if (keepingKey(step.action) !== "artifacts") return false;
    const before = marks.list.length;
    try {
      const commands = uploadCommands(step, this.#names, source);
      const translation = this.#commands(step, unit, commands);
      if (!(translation instanceof Comment)) this.#add(translation, step, unit);
      else marks.list.length = before;
      return !(translation instanceof Comment);
    } catch (error) {
      if (error instanceof NoEqual) return false;
      throw error;
    }
  }

  /** Creates the step with the commands that replace an action. */
  #commands(step: ReadStep, unit: string, commands: Commands): OutMap | Comment {
    const { source, marks, withdrawn } = this.#file;
    const place = { names: this.#names, shell: undefined, source, marks };
    return translateStep({ ...step, kind: "run" }, place, unit, withdrawn, commands);
  }

  #setUp(step: ReadStep, unit: string, line: number): void {
    const { source, marks } = this.#file;
    const { action, ref, inputs } = step;
    const before = marks.list.length;
    try {
      const { tools, caches, commands, outputs, requires, comments } = translateSetUp(
        { action, ref, inputs, line },
        this.#names,
        source,
        marks,
      );
      if (find(step.token, "if") && (tools.length > 0 || outputs))
        throw new NoEqual(`${action} under a condition`, "tool");
      this.#tools.add(tools);
      if (requires) addRequirement(this.#part("runs-on"), requires);
      // Without the commit's files nobody knows what changed.
      if (outputs && !this.#hasCheckout) throw new NoEqual(`${action} before a checkout`, "action");
      if (outputs && step.id !== null) this.#addName({ id: step.id, fate: "kept", outputs });
      this.#job.say(...comments);
      for (const cache of caches) this.#cache(cache, step, `${unit}.cache.${cache.name}`);
      if (!commands) return;
      const translation = this.#commands(step, unit, commands);
      if (translation instanceof Comment) this.#say(translation, step, unit);
      else this.#add(translation, step, unit);
    } catch (error) {
      if (!(error instanceof NoEqual)) throw error;
      marks.list.length = before;
      this.#say(marks.add(error.kind, error.message, line, source.lines(step.token, line)), step, unit);
    }
  }

  #cache(cache: KnownCache, { action, token }: ReadStep, unit: string): void {
    const { marks, withdrawn } = this.#file;
    const refused = withdrawn.get(unit);
    if (refused !== undefined) this.#list.say(marks.add("cache", `the cache of ${action} (${refused})`, lineOf(token)));
    else this.#keptFiles.addOnce("cache", cache.name, cacheEntry(cache), unit);
  }
}
