import { type JobFacts, prepareStep, stepNames } from "../domain/plan/evaluate.ts";
import { afterCancel, afterStep, JOB_START, type JobSoFar, type Outcome } from "../domain/plan/job-so-far.ts";
import { describeMistake } from "../domain/plan/mistake.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { Step } from "../protocol/build.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { BuildFolder } from "./build-folder.ts";
import type { BuildLog } from "./build-log.ts";
import { CommandFiles } from "./command-files.ts";
import { BuildFailure, Cancel } from "./failure.ts";
import { type Heard, MaskCommands } from "./mask-commands.ts";
import type { ProcessTree } from "./process-tree.ts";
import { runStep } from "./step.ts";
import { StepOutput } from "./step-output.ts";
import type { StepUser } from "./step-user.ts";

/** Milliseconds that steps which ask for it (`if: always()`) have after a cancel, all together. */
const TIDY_UP_FOR = 60_000;

/** Hears how the build comes along. */
export interface Listener {
  steps(steps: Step[]): void;
  masks(masks: string[]): void;
  summary(text: string): void;
}

export interface StepsToRun {
  plan: Plan;
  facts: JobFacts;
  /** Name of the pipeline file, for mistakes in it. */
  file: string;
  /** MILLRACE_* of this build, which nothing may replace. */
  fixed: Record<string, string>;
  folder: Omit<BuildFolder, "path" | "spool">;
  tree: ProcessTree;
  log: BuildLog;
  user: StepUser | null;
  /** Milliseconds between SIGTERM and SIGKILL. */
  grace: number;
  signal: AbortSignal;
  /** Aborted when not even tidying up makes sense any more. */
  abandon: AbortSignal;
  listener: Listener;
}

export interface StepsResult {
  succeeded: boolean;
  /** Of the step that failed the build. */
  exitCode: number | null;
  /** Which step failed the build, and why. */
  message: string | null;
}

const STATUS: Record<Outcome, Step["status"]> = {
  success: "succeeded",
  failure: "failed",
  cancelled: "canceled",
  skipped: "skipped",
};

/** What a step that did not run leaves behind. */
const NOTHING = { exitCode: null, outputs: {}, env: {} };

/**
 * Runs the plan's steps in order, each with what the earlier ones left behind. After a mistake in the file that only
 * shows now, those still run that ask for it by `if`.
 * @throws BuildFailure pipeline-invalid for the first such mistake; the signal's reason when it was aborted.
 */
export const runSteps = async (work: StepsToRun): Promise<StepsResult> => {
  const { plan, facts, signal, listener, log } = work;
  const names = stepNames(plan);
  const titled = (name: string): string =>
    log.mask(name).trim().replace(/\s+/g, " ").slice(0, LIMITS.stepNameCharacters);
  const rows: Step[] = plan.job.steps.map(({ id }, index) => ({
    id,
    name: titled(names[index] ?? ""),
    status: "pending",
    exitCode: null,
    startedAt: null,
    finishedAt: null,
    logOffset: null,
  }));
  const tell = (index: number, change: Partial<Step>): void => {
    rows[index] = { ...rows[index]!, ...change };
    listener.steps([...rows]);
  };
  let current: CommandFiles | null = null;
  const addMasks = (masks: string[]): void => {
    const fresh = log.addSecrets(masks);
    if (fresh.length > 0) listener.masks(fresh);
  };
  const commands = new MaskCommands();
  const hear = ({ masks, bytes }: Heard): void => {
    addMasks([...masks, ...(current?.newMasks() ?? [])]);
    log.write(bytes);
  };
  const output = new StepOutput(
    work.folder.pipe,
    (bytes) => hear(commands.push(bytes)),
    () => hear(commands.end()),
  );
  let soFar: JobSoFar = JOB_START;
  let failed: Omit<StepsResult, "succeeded"> | null = null;
  let mistake: BuildFailure | null = null;
  let tidyUp: AbortSignal | null = null;
  try {
    for (const [index, step] of plan.job.steps.entries()) {
      if (signal.aborted && tidyUp === null) {
        if (!(signal.reason instanceof Cancel) || signal.reason.reason === "lease-lost") throw signal.reason;
        soFar = afterCancel(soFar);
        tidyUp = AbortSignal.any([AbortSignal.timeout(TIDY_UP_FOR), work.abandon]);
      }
      const prepared = prepareStep(plan, index, facts, soFar);
      if (prepared.kind === "run") addMasks(prepared.masks);
      const name = titled(prepared.name);
      if (prepared.kind === "skip") {
        tell(index, { name, status: "skipped" });
        soFar = afterStep(soFar, step, { ...NOTHING, outcome: "skipped" });
        continue;
      }
      const logOffset = log.begin(name);
      if (prepared.kind === "mistake") {
        const failure = new BuildFailure("pipeline-invalid", describeMistake(work.file, prepared.mistake));
        log.say(failure.message);
        tell(index, { name, status: "failed", logOffset });
        soFar = afterStep(soFar, { continueOnError: false }, { ...NOTHING, outcome: "failure" });
        mistake ??= failure;
        continue;
      }
      tell(index, { name, status: "running", startedAt: new Date().toISOString(), logOffset });
      current = new CommandFiles(work.folder.steps, index, work.user);
      const end = await runStep(work, prepared, index, current, output, tidyUp ?? signal);
      addMasks(current.newMasks());
      current.close();
      current = null;
      soFar = afterStep(soFar, step, end);
      const { outcome } = end;
      tell(index, { status: STATUS[outcome], exitCode: end.exitCode, finishedAt: new Date().toISOString() });
      if (outcome === "failure" && !step.continueOnError)
        failed ??= { exitCode: end.exitCode, message: `Step "${name}" ${end.why}` };
    }
  } finally {
    current?.close();
    await output.drain();
    output.close();
  }
  signal.throwIfAborted();
  if (mistake) throw mistake;
  if (soFar.status === "success") return { succeeded: true, exitCode: 0, message: null };
  return { succeeded: false, ...(failed ?? { exitCode: null, message: null }) };
};
