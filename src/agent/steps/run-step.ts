import { closeSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StepToRun } from "../../domain/plan/evaluate.ts";
import type { StepEnd } from "../../domain/plan/job-so-far.ts";
import { createFileFor } from "../process/as-user.ts";
import type { StepUser } from "../process/step-user.ts";
import type { CommandFiles } from "./command-files.ts";
import { describeExit, describeStartFailure, describeStop, possibleCauses } from "./failed-step.ts";
import { findProgram } from "./find-program.ts";
import type { RunStepsOptions } from "./run-steps.ts";
import { SHELL_COMMANDS } from "./shells.ts";
import { inheritedEnvironment } from "./step-environment.ts";
import type { StepOutput } from "./step-output.ts";
import { type ProcessEnd, runProcess } from "./step-process.ts";

/** The exit code of a step that could not be started, as a shell has it. */
const NOT_STARTED = 127;

export interface StepVerdict extends StepEnd {
  /** Why it did not simply succeed, in words that follow "The step"; null when it did. */
  why: string | null;
}

/** Runs one step to its end, to its own time limit, or until the signal is aborted: then with all it has started. */
export const runStep = async (
  work: RunStepsOptions,
  step: StepToRun,
  index: number,
  files: CommandFiles,
  output: StepOutput,
  signal: AbortSignal,
): Promise<StepVerdict> => {
  const { log, tree, user, folder } = work;
  const shell = SHELL_COMMANDS[step.shell];
  const script = join(folder.steps, `${index}.${shell.extension}`);
  writeScript(script, step.script, user);
  const place = join(folder.workspace, step.workingDirectory ?? ".");
  const missingMessage = `There is no folder for working-directory ${step.workingDirectory ?? "."}`;
  const limit = step.timeoutMinutes === null ? null : AbortSignal.timeout(Math.ceil(step.timeoutMinutes * 60_000));
  const stop = limit ? AbortSignal.any([signal, limit]) : signal;
  let stopping: Promise<unknown> | null = null;
  const onStop = (): void => {
    stopping = tree.terminate(work.grace);
  };
  stop.addEventListener("abort", onStop, { once: true });
  // Nothing is awaited between the look at `stop` and the process that it would end.
  const start = async (): Promise<ProcessEnd> => {
    const [name, ...args] = shell.argv(script);
    const program = await findProgram(name, user);
    stop.throwIfAborted();
    const env = { ...inheritedEnvironment(user, folder), ...step.env, ...work.fixed, ...files.env };
    return runProcess({ argv: [program, ...args], folder: place, missingMessage, env, output: output.fd, user }, tree);
  };
  try {
    const { code, why: ended } = await start().then(
      (end) => ({ code: end.code, why: end.code === 0 ? null : describeExit(end) }),
      (error: unknown) => ({
        code: error === stop.reason ? null : NOT_STARTED,
        why: describeStartFailure(error, user),
      }),
    );
    await stopping;
    await output.drain();
    const { problems, summary, outputs, env: later } = files.readAll();
    for (const problem of problems) log.say(problem);
    if (summary !== "") work.listener.summary(summary);
    const why = whyNot(signal, limit, step, ended, problems.length > 0);
    const outcome = signal.aborted ? "cancelled" : why === null ? "success" : "failure";
    if (why !== null) log.say(`The step ${why}`);
    if (outcome === "failure") for (const line of possibleCauses(folder.workspace, user, output)) log.say(line);
    return { outcome, exitCode: code === 0 && why !== null ? 1 : code, outputs, env: later, why };
  } finally {
    stop.removeEventListener("abort", onStop);
  }
};

/** The first of all that may have gone wrong: what stopped a step, not the signal by which it was stopped. */
const whyNot = (
  signal: AbortSignal,
  limit: AbortSignal | null,
  { timeoutMinutes }: StepToRun,
  ended: string | null,
  hasProblems: boolean,
): string | null => {
  if (signal.aborted) return describeStop(signal.reason);
  if (limit?.aborted) return `was stopped after ${minutes(timeoutMinutes)} (timeout-minutes)`;
  return ended ?? (hasProblems ? "wrote what cannot be read to one of its command files" : null);
};

const minutes = (count: number | null): string => `${count} ${count === 1 ? "minute" : "minutes"}`;

const writeScript = (path: string, text: string, user: StepUser | null): void => {
  const fd = createFileFor(user, path);
  writeFileSync(fd, text);
  closeSync(fd);
};
