import { closeSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StepToRun } from "../domain/plan/evaluate.ts";
import type { StepEnd } from "../domain/plan/job-so-far.ts";
import { newFileFor } from "./as-user.ts";
import type { CommandFiles } from "./command-files.ts";
import { localFailure } from "./failure.ts";
import { SHELL_COMMANDS } from "./shells.ts";
import { inherited } from "./step-environment.ts";
import type { StepOutput } from "./step-output.ts";
import { runProcess } from "./step-process.ts";
import type { StepUser } from "./step-user.ts";
import type { StepsToRun } from "./steps.ts";

/** The exit code of a step that could not be started, as a shell has it. */
const NOT_STARTED = 127;

/** Runs one step to its end, to its own time limit, or until the signal is aborted: then with all it has started. */
export const runStep = async (
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
  const place = join(folder.workspace, step.workingDirectory ?? ".");
  const missing = `There is no folder for working-directory ${step.workingDirectory ?? "."}`;
  const limit = step.timeoutMinutes === null ? null : AbortSignal.timeout(Math.ceil(step.timeoutMinutes * 60_000));
  const stop = limit ? AbortSignal.any([signal, limit]) : signal;
  let stopping: Promise<unknown> | null = null;
  const onStop = (): void => {
    stopping = tree.end(work.grace);
  };
  stop.addEventListener("abort", onStop, { once: true });
  try {
    stop.throwIfAborted();
    const env = { ...inherited(user, folder), ...step.env, ...work.fixed, ...files.env };
    const argv = shell.argv(script);
    const running = runProcess({ argv, folder: place, missing, env, output: output.fd, user }, tree);
    const exitCode = await running.catch((error: unknown) => {
      log.say(startTrouble(error));
      return NOT_STARTED;
    });
    await stopping;
    await output.drain();
    if (limit?.aborted) log.say(`The step took longer than ${minutes(step.timeoutMinutes)} and was stopped`);
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

const minutes = (count: number | null): string => `${count} ${count === 1 ? "minute" : "minutes"}`;

const writeScript = (path: string, text: string, user: StepUser | null): void => {
  const fd = newFileFor(user, path);
  writeFileSync(fd, text);
  closeSync(fd);
};

/** A step that cannot be started is a failed step, with a word on what to do. */
const startTrouble = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "E2BIG") return "The step cannot be started: its environment is larger than this machine allows";
  return code === undefined ? `The step cannot be started: ${message}` : localFailure(error).message;
};
