import { closeSync, fchownSync, openSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type JobFacts, prepareStep, type StepToRun, stepNames } from "../domain/plan/evaluate.ts";
import {
  afterCancel,
  afterStep,
  JOB_START,
  type JobSoFar,
  type Outcome,
  type StepEnd,
} from "../domain/plan/job-so-far.ts";
import { describeMistake } from "../domain/plan/mistake.ts";
import type { Plan } from "../domain/plan/plan.ts";
import type { Step } from "../protocol/build.ts";
import type { BuildFolder } from "./build-folder.ts";
import type { BuildLog } from "./build-log.ts";
import { CommandFiles } from "./command-files.ts";
import { BuildFailure, Cancel, localFailure } from "./failure.ts";
import type { ProcessTree } from "./process-tree.ts";
import { SHELL_COMMANDS } from "./shells.ts";
import { inherited } from "./step-environment.ts";
import { StepOutput } from "./step-output.ts";
import { runProcess } from "./step-process.ts";
import type { StepUser } from "./step-user.ts";

/** Milliseconds that steps which ask for it (`if: always()`) have after a cancel, all together. */
const TIDY_UP_FOR = 60_000;
/** The exit code of a step that could not be started, as a shell has it. */
const NOT_STARTED = 127;

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
  folder: Pick<BuildFolder, "workspace" | "steps" | "pipe">;
  tree: ProcessTree;
  log: BuildLog;
  user: StepUser | null;
  /** Milliseconds between SIGTERM and SIGKILL. */
  grace: number;
  signal: AbortSignal;
  listener: Listener;
}

export interface StepsResult {
  succeeded: boolean;
  /** Of the step that failed the build. */
  exitCode: number | null;
}

const STATUS: Record<Outcome, Step["status"]> = {
  success: "succeeded",
  failure: "failed",
  cancelled: "canceled",
  skipped: "skipped",
};

/**
 * Runs the plan's steps in order, each with what the earlier ones left behind.
 * @throws BuildFailure pipeline-invalid at a mistake that only shows now; the signal's reason when it was aborted.
 */
export const runSteps = async (work: StepsToRun): Promise<StepsResult> => {
  const { plan, facts, signal, listener, log } = work;
  const names = stepNames(plan);
  const rows: Step[] = plan.job.steps.map(({ id }, index) => ({
    id,
    name: names[index] ?? "",
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
  const output = new StepOutput(work.folder.pipe, (bytes) => {
    addMasks(current?.newMasks() ?? []);
    log.write(bytes);
  });
  let soFar: JobSoFar = JOB_START;
  let exitCode: number | null = null;
  let tidyUp: AbortSignal | null = null;
  try {
    for (const [index, step] of plan.job.steps.entries()) {
      if (signal.aborted && tidyUp === null) {
        if (!(signal.reason instanceof Cancel) || signal.reason.reason === "lease-lost") throw signal.reason;
        soFar = afterCancel(soFar);
        tidyUp = AbortSignal.timeout(TIDY_UP_FOR);
      }
      const prepared = prepareStep(plan, index, facts, soFar);
      if (prepared.kind === "mistake") {
        tell(index, { name: prepared.name, status: "failed" });
        throw new BuildFailure("pipeline-invalid", describeMistake(work.file, prepared.mistake));
      }
      if (prepared.kind === "skip") {
        tell(index, { name: prepared.name, status: "skipped" });
        soFar = afterStep(soFar, step, { outcome: "skipped", exitCode: null, outputs: {}, env: {} });
        continue;
      }
      addMasks(prepared.masks);
      const logOffset = log.flush();
      log.say(`--- ${prepared.name}`);
      tell(index, { name: prepared.name, status: "running", startedAt: new Date().toISOString(), logOffset });
      current = new CommandFiles(work.folder.steps, index, work.user);
      const end = await runStep(work, prepared, index, current, output, tidyUp ?? signal);
      addMasks(current.newMasks());
      current.close();
      current = null;
      soFar = afterStep(soFar, step, end);
      const { outcome } = end;
      tell(index, { status: STATUS[outcome], exitCode: end.exitCode, finishedAt: new Date().toISOString() });
      if (outcome === "failure" && !step.continueOnError) exitCode ??= end.exitCode;
    }
  } finally {
    await output.drain();
    output.close();
  }
  signal.throwIfAborted();
  return { succeeded: soFar.status === "success", exitCode: soFar.status === "success" ? 0 : exitCode };
};

const runStep = async (
  work: StepsToRun,
  step: StepToRun,
  index: number,
  files: CommandFiles,
  output: StepOutput,
  signal: AbortSignal,
): Promise<StepEnd> => {
  const { log, tree, user, folder } = work;
  const shell = SHELL_COMMANDS[step.shell];
  const script = join(folder.steps, `${index}.${shell.extension}`);
  writeScript(script, step.script, user);
  const place = resolve(folder.workspace, step.workingDirectory ?? ".");
  if (!statSync(place, { throwIfNoEntry: false })?.isDirectory()) {
    log.say(`There is no folder for working-directory ${step.workingDirectory ?? ""}`);
    return { outcome: "failure", exitCode: NOT_STARTED, outputs: {}, env: {} };
  }
  const limit = step.timeoutMinutes === null ? null : AbortSignal.timeout(Math.ceil(step.timeoutMinutes * 60_000));
  const stop = limit ? AbortSignal.any([signal, limit]) : signal;
  let stopping: Promise<unknown> | null = null;
  const onStop = (): void => {
    stopping = tree.end(work.grace);
  };
  stop.addEventListener("abort", onStop, { once: true });
  try {
    stop.throwIfAborted();
    const env = { ...inherited(user), ...step.env, ...work.fixed, ...files.env };
    const running = runProcess({ argv: shell.argv(script), folder: place, env, output: output.fd, user }, tree);
    const exitCode = await running.catch((error: unknown) => {
      log.say(startTrouble(error));
      return NOT_STARTED;
    });
    await stopping;
    await output.drain();
    if (limit?.aborted) log.say(`The step took longer than ${step.timeoutMinutes} minutes and was stopped`);
    const { problems, summary, outputs, env: later } = files.readAll();
    for (const problem of problems) log.say(problem);
    if (summary !== "") work.listener.summary(summary);
    const failed = exitCode !== 0 || problems.length > 0 || limit?.aborted;
    const outcome = signal.aborted ? "cancelled" : failed ? "failure" : "success";
    return { outcome, exitCode: exitCode === 0 && failed ? 1 : exitCode, outputs, env: later };
  } catch (error) {
    if (error !== stop.reason) throw error;
    return { outcome: "cancelled", exitCode: null, outputs: {}, env: {} };
  } finally {
    stop.removeEventListener("abort", onStop);
  }
};

/** By its handle, not its name: the folder is the steps' own, and what bears a name there can change. */
const writeScript = (path: string, text: string, user: StepUser | null): void => {
  const fd = openSync(path, "wx", 0o600);
  writeFileSync(fd, text);
  if (user) fchownSync(fd, user.uid, user.gid);
  closeSync(fd);
};

/** A step that cannot be started is a failed step, with a word on what to do. */
const startTrouble = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "E2BIG") return "The step cannot be started: its environment is larger than this machine allows";
  return code === undefined ? `The step cannot be started: ${message}` : localFailure(error).message;
};
