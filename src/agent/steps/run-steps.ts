import { formatMistake, type Mistake } from "../../pipeline/mistake.ts";
import type { Plan } from "../../pipeline/parse/plan.ts";
import {
  afterCancel,
  afterStep,
  asFailed,
  INITIAL_JOB_STATE,
  type JobContext,
  type JobState,
  type StepOutcome,
} from "../../pipeline/prepare/job-context.ts";
import { prepareStep, type StepToRun } from "../../pipeline/prepare/prepare-step.ts";
import type { Step } from "../../protocol/build.ts";
import { MINUTE_MS } from "../../protocol/units.ts";
import type { ArtifactKeeper } from "../artifacts/keep-artifacts.ts";
import { BuildFailure, Cancel, ToldFailure } from "../build/failure.ts";
import { CommandFiles } from "./command-files.ts";
import { runStep, runTries, type StepContext, type StepVerdict } from "./run-step.ts";
import { StepLogWriter } from "./step-log-writer.ts";
import { StepOutput } from "./step-process.ts";
import { StepReport } from "./step-report.ts";

/** Total milliseconds for all steps that run after a cancel (`if: always()`). */
const CLEANUP_MILLISECONDS = MINUTE_MS;

/** Receives the steps' reports while they run. */
export interface StepListener {
  steps(steps: Step[]): void;
  masks(masks: string[]): void;
  summary(text: string): void;
}

export interface RunStepsOptions extends StepContext {
  plan: Plan;
  facts: JobContext;
  /** The pipeline file's name, for mistakes in it. */
  file: string;
  /** Aborted with a Cancel when the build must stop. */
  signal: AbortSignal;
  /** Aborted when the steps that run after a cancel must stop too. */
  abandon: AbortSignal;
  listener: StepListener;
  /** Keeps the artifacts that steps name. */
  artifacts: Pick<ArtifactKeeper, "keep">;
}

export interface StepsResult {
  succeeded: boolean;
  /** The exit code of the step that failed the build. */
  exitCode: number | null;
  /** The step that failed the build, and the reason. */
  message: string | null;
  /** The steps' results. */
  state: JobState;
}

const STATUS: Record<StepOutcome, Step["status"]> = {
  success: "succeeded",
  failure: "failed",
  cancelled: "canceled",
  skipped: "skipped",
};

/** Later steps' view of a step that did not run. */
const NOT_RUN = { exitCode: null, outputs: {}, env: {}, path: [] };

/**
 * Runs the plan's steps in order. Each step sees the outputs and variables of earlier steps. Some mistakes in the file
 * only appear in a running build. After such a mistake, steps still run if their `if` requires it.
 * @throws BuildFailure pipeline-invalid for the first such mistake, or the signal's reason when it was aborted
 */
export const runSteps = async (options: RunStepsOptions): Promise<StepsResult> => {
  const { plan, facts, signal } = options;
  const run = new StepsRun(options);
  try {
    for (const index of plan.job.steps.keys()) {
      if (signal.aborted) run.startCleanup();
      const prepared = prepareStep(plan, index, facts, run.jobState);
      if (prepared.kind === "skip") run.skip(index, prepared.name);
      else if (prepared.kind === "mistake") run.failByMistake(index, prepared.name, prepared.mistake);
      else await run.execute(index, prepared);
    }
  } finally {
    await run.close();
  }
  signal.throwIfAborted();
  return run.result();
};

/** One build's steps: their progress, their reports, and the effect of their end on the build. */
class StepsRun {
  jobState: JobState = INITIAL_JOB_STATE;
  readonly #options: RunStepsOptions;
  readonly #report: StepReport;
  readonly #writer: StepLogWriter;
  readonly #output: StepOutput;
  #failedStep: Pick<StepsResult, "exitCode" | "message"> | null = null;
  #mistake: BuildFailure | null = null;
  /** The first failure to keep a step's artifact. */
  #notKept: BuildFailure | null = null;
  /** The time limit for the remaining steps, set after a cancel. */
  #cleanup: AbortSignal | null = null;

  constructor(options: RunStepsOptions) {
    const { plan, log, listener, folder } = options;
    this.#options = options;
    this.#report = new StepReport(plan, log, (steps) => listener.steps(steps));
    this.#writer = new StepLogWriter(log, (masks) => listener.masks(masks));
    this.#output = new StepOutput(
      folder.pipe,
      (bytes) => this.#writer.write(bytes),
      () => this.#writer.flush(),
    );
  }

  /** Limits further steps to those whose `if` requires it. @throws the signal's reason when no step may run any more */
  startCleanup(): void {
    if (this.#cleanup !== null) return;
    const { signal, abandon } = this.#options;
    if (!(signal.reason instanceof Cancel) || signal.reason.reason === "lease-lost") throw signal.reason;
    this.jobState = afterCancel(this.jobState);
    this.#cleanup = AbortSignal.any([AbortSignal.timeout(CLEANUP_MILLISECONDS), abandon]);
  }

  skip(index: number, name: string): void {
    this.#report.update(index, { name: this.#report.displayName(name), status: "skipped" });
    this.jobState = afterStep(this.jobState, this.#step(index), { ...NOT_RUN, outcome: "skipped" });
  }

  failByMistake(index: number, name: string, mistake: Mistake): void {
    const { log, file } = this.#options;
    const displayName = this.#report.displayName(name);
    const logOffset = log.begin(displayName);
    const failure = new ToldFailure("pipeline-invalid", formatMistake(file, mistake));
    log.say(failure.message);
    this.#report.update(index, { name: displayName, status: "failed", logOffset });
    this.jobState = afterStep(this.jobState, { continueOnError: false }, { ...NOT_RUN, outcome: "failure" });
    this.#mistake ??= failure;
  }

  async execute(index: number, prepared: StepToRun): Promise<void> {
    const { log, listener, signal } = this.#options;
    // Report the masks first, because the name may contain one of them.
    this.#writer.addMasks(prepared.masks);
    const name = this.#report.displayName(prepared.name);
    const logOffset = log.begin(name);
    this.#report.update(index, { name, status: "running", startedAt: new Date().toISOString(), logOffset });
    const stop = this.#cleanup ?? signal;
    const end = await runTries(prepared.retry, {
      run: (number) => this.#try(prepared, number === 1 ? String(index) : `${index}-try-${number}`, stop),
      say: (text) => log.say(text),
      onTry: (tries) => this.#report.update(index, { tries }),
      signal: stop,
    });
    if (end.summary !== "") listener.summary(end.summary);
    if (end.outcome !== "cancelled") await this.#keep(end.artifacts);
    const { outcome, exitCode } = end;
    const step = this.#step(index);
    this.jobState = afterStep(this.jobState, step, end);
    // From here on, later steps' conditions see this step as failed.
    if (this.#notKept) this.jobState = asFailed(this.jobState);
    this.#report.update(index, { status: STATUS[outcome], exitCode, finishedAt: new Date().toISOString() });
    if (outcome === "failure" && !step.continueOnError)
      this.#failedStep ??= { exitCode, message: `Step "${name}" ${end.why}` };
  }

  /** Runs one try of a step with its own files and script. Masks the try's values from then on. */
  async #try(step: StepToRun, name: string, signal: AbortSignal): Promise<StepVerdict> {
    const { folder, user } = this.#options;
    const commandFiles = new CommandFiles(folder.steps, name, user);
    this.#writer.commandFiles = commandFiles;
    const end = await runStep({ ...this.#options, step, name, commandFiles, output: this.#output, signal });
    this.#writer.addMasks(commandFiles.masks.all());
    this.#closeCommandFiles();
    return end;
  }

  async close(): Promise<void> {
    this.#closeCommandFiles();
    await this.#output.drain();
    this.#output.close();
  }

  /** Returns the result. @throws BuildFailure for the first mistake in the file */
  result(): StepsResult {
    if (this.#mistake) throw this.#mistake;
    const state = this.jobState;
    if (this.#notKept && this.#failedStep === null) throw this.#notKept;
    if (state.status === "success") return { succeeded: true, exitCode: 0, message: null, state };
    return { succeeded: false, ...(this.#failedStep ?? { exitCode: null, message: null }), state };
  }

  /**
   * Keeps the artifacts that a step named. The first artifact that cannot be kept fails the build, unless a step fails
   * it.
   */
  async #keep(artifacts: StepVerdict["artifacts"]): Promise<void> {
    for (const one of artifacts)
      await this.#options.artifacts.keep({ ...one, as: "files", keepDays: null, ifNone: "fail" }).catch((error) => {
        if (!(error instanceof BuildFailure)) throw error;
        this.#options.log.say(error.message);
        this.#notKept ??= new ToldFailure(error.reason, error.message);
      });
  }

  #step(index: number): Plan["job"]["steps"][number] {
    return this.#options.plan.job.steps[index]!;
  }

  #closeCommandFiles(): void {
    this.#writer.commandFiles?.close();
    this.#writer.commandFiles = null;
  }
}
