import { rmSync } from "node:fs";
import { join } from "node:path";
import type { BuildLog } from "../log/build-log.ts";
import type { ProcessTree } from "../process/process-tree.ts";
import { describeExit } from "../steps/failed-step.ts";
import { StepOutput } from "../steps/step-output.ts";
import { runProcess } from "../steps/step-process.ts";
import type { HookFiles, HookName } from "./hook-files.ts";
import { hookEnvironment } from "./hook-variables.ts";

/** Milliseconds that a hook may take. */
export const HOOK_MILLISECONDS = 5 * 60_000;

export interface RunHookOptions {
  name: HookName;
  files: HookFiles;
  /** The agent's state folder, in which only the agent writes. */
  state: string;
  variables: Record<string, string>;
  log: BuildLog;
  /** Of the hook alone: its processes and those of the build are ended apart. */
  tree: ProcessTree;
  /** Milliseconds between SIGTERM and SIGKILL. */
  grace: number;
  milliseconds: number;
  /** Aborted when the hook must stop. */
  signal: AbortSignal;
}

/**
 * Runs a hook as the agent's user, its output in a section of the log. A process that it leaves behind goes on, unless
 * the hook has to be stopped. @returns why it failed, worded to follow its name; null when it did not.
 */
export const runHook = async (options: RunHookOptions): Promise<string | null> => {
  const { name, files, state, variables, log, tree, grace, milliseconds, signal } = options;
  const path = files.paths[name];
  if (path === undefined || signal.aborted) return null;
  log.begin(`${name} (a hook of this machine's owner)`);
  const pipe = join(state, `hook-output-${process.pid}`);
  rmSync(pipe, { force: true });
  await StepOutput.makePipe(pipe);
  const output = new StepOutput(
    pipe,
    (bytes) => log.write(bytes),
    () => {},
  );
  rmSync(pipe);
  const limit = AbortSignal.timeout(milliseconds);
  const stop = AbortSignal.any([signal, limit]);
  let terminated: Promise<unknown> | null = null;
  const onStop = (): void => {
    terminated = tree.terminate(grace);
  };
  stop.addEventListener("abort", onStop, { once: true });
  try {
    const env = { ...hookEnvironment(variables), ...tree.env, MILLRACE_HOOK: name };
    const missingMessage = `${files.folder} cannot be entered`;
    const end = await runProcess(
      { argv: [path], folder: files.folder, missingMessage, env, output: output.fd, user: null },
      tree,
    );
    await terminated;
    await output.drain();
    const why = reasonOf(end.code === 0 ? null : describeExit(end), limit, signal, milliseconds);
    if (why !== null) log.say(`${name} ${why}`);
    return why;
  } finally {
    stop.removeEventListener("abort", onStop);
    output.close();
  }
};

const reasonOf = (
  ended: string | null,
  limit: AbortSignal,
  signal: AbortSignal,
  milliseconds: number,
): string | null => {
  if (signal.aborted) return "was stopped";
  return limit.aborted ? `was stopped after ${milliseconds / 1000} seconds` : ended;
};
