import { closeSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Retry, Shell } from "../../pipeline/parse/plan.ts";
import type { StepEnd } from "../../pipeline/prepare/job-context.ts";
import { pathWith } from "../../pipeline/prepare/path-file.ts";
import type { StepToRun } from "../../pipeline/prepare/prepare-step.ts";
import { MINUTE_MS, SECOND_MS } from "../../protocol/units.ts";
import type { BuildFolder } from "../build/build-folder.ts";
import type { JobLog } from "../log/job-log.ts";
import type { ProcessTree } from "../process/process-tree.ts";
import { createFileFor, findProgram, type StepUser } from "../process/step-user.ts";
import { NO_TOOLS, type ToolEnvironment, withTools } from "../tools/tool-environment.ts";
import { sleep } from "../wire/auto-reset-event.ts";
import type { CommandFileContents, CommandFiles } from "./command-files.ts";
import { describeExit, describeStartFailure, describeStop, possibleCauses } from "./failed-step.ts";
import { inheritedEnvironment } from "./step-environment.ts";
import { type ProcessEnd, runProcess, type StepOutput } from "./step-process.ts";

/** Makes PowerShell strict. By default it continues after an error, and exits with 0 when the last program failed. */
const strictCommand = (script: string): string =>
  `$ErrorActionPreference = 'Stop'; . '${script.replaceAll("'", "''")}'; ` +
  "if (Test-Path -LiteralPath variable:LASTEXITCODE) { exit $LASTEXITCODE }";

/** Command line for a script in each shell. Shells stop at the first failed command or pipe, if they can. */
const SHELL_COMMANDS: Record<Shell, { extension: string; argv: (script: string) => [string, ...string[]] }> = {
  bash: { extension: "sh", argv: (script) => ["bash", "--noprofile", "--norc", "-eo", "pipefail", script] },
  sh: { extension: "sh", argv: (script) => ["sh", "-e", script] },
  pwsh: {
    extension: "ps1",
    argv: (script) => ["pwsh", "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", strictCommand(script)],
  },
  python: { extension: "py", argv: (script) => ["python3", script] },
  node: { extension: "js", argv: (script) => ["node", script] },
};

/** Exit code of a step that could not start. Shells use it for "command not found". */
const NOT_STARTED = 127;

/** The context that all steps of a build share. */
export interface StepContext {
  /** This build's MILLRACE_* variables. Nothing replaces them. */
  fixed: Record<string, string>;
  folder: Omit<BuildFolder, "path" | "log">;
  tree: ProcessTree;
  log: JobLog;
  user: StepUser | null;
  /** The tools for the steps, if the file names any. */
  tools?: ToolEnvironment;
  /** Milliseconds between SIGTERM and SIGKILL. */
  grace: number;
}

interface RunStepOptions extends StepContext {
  step: StepToRun;
  /** The name of this try's script file. */
  name: string;
  commandFiles: CommandFiles;
  output: StepOutput;
  /** Aborted when the step must stop. */
  signal: AbortSignal;
}

export interface StepVerdict extends StepEnd {
  summary: string;
  /** The reason for a failure, worded to follow "The step"; null after a success. */
  why: string | null;
  /** The artifacts that the step wants to keep at its end. */
  artifacts: CommandFileContents["artifacts"];
}

/**
 * Runs a step once, until it ends, exceeds its own time limit or the signal is aborted. Then ends all its processes.
 */
export const runStep = async (options: RunStepOptions): Promise<StepVerdict> => {
  const { step, tree, output, signal } = options;
  const script = writeScript(options);
  const limit = step.timeoutMinutes === null ? null : AbortSignal.timeout(Math.ceil(step.timeoutMinutes * MINUTE_MS));
  const stop = limit ? AbortSignal.any([signal, limit]) : signal;
  let terminated: Promise<unknown> | null = null;
  const onStop = (): void => {
    terminated = tree.terminate(options.grace);
  };
  stop.addEventListener("abort", onStop, { once: true });
  const env = stepEnvironment(options);
  try {
    const { code, why } = await startProcess(options, script, env, stop).then(
      (end) => ({ code: end.code, why: end.code === 0 ? null : describeExit(end) }),
      (error: unknown) => ({
        code: error === stop.reason ? null : NOT_STARTED,
        why: describeStartFailure(error, options.user, env),
      }),
    );
    await terminated;
    await output.drain();
    return judge(options, code, stopReason(signal, limit, step) ?? why);
  } finally {
    stop.removeEventListener("abort", onStop);
  }
};

/** Writes the script. @returns the path of its file */
const writeScript = ({ step, name, folder, user }: RunStepOptions): string => {
  const path = join(folder.steps, `${name}.${SHELL_COMMANDS[step.shell].extension}`);
  const fd = createFileFor(user, path);
  writeFileSync(fd, step.script);
  closeSync(fd);
  return path;
};

const stepEnvironment = (options: RunStepOptions): Record<string, string> => {
  const { step, folder, user, fixed, commandFiles, tools = NO_TOOLS } = options;
  const env = { ...withTools(inheritedEnvironment(user, folder), tools), ...step.env, ...fixed, ...commandFiles.env };
  return step.path.length > 0 ? { ...env, PATH: pathWith(step.path, env.PATH) } : env;
};

const startProcess = async (
  options: RunStepOptions,
  script: string,
  env: Record<string, string>,
  stop: AbortSignal,
): Promise<ProcessEnd> => {
  const { step, folder, user, tree, tools = NO_TOOLS } = options;
  const [name, ...args] = SHELL_COMMANDS[step.shell].argv(script);
  const program = await findProgram(name, user, tools.paths);
  // Keep this free of `await` until the process starts: an abort in between would find no process to end.
  stop.throwIfAborted();
  const workingDirectory = step.workingDirectory ?? ".";
  return runProcess(
    {
      argv: [program, ...args],
      folder: join(folder.workspace, workingDirectory),
      missingMessage: `The folder for working-directory ${workingDirectory} does not exist`,
      env,
      output: options.output.fd,
      user,
    },
    tree,
  );
};

/**
 * Returns the reason why the agent stopped the step, or null. It is more precise than the signal that ended the
 * process.
 */
const stopReason = (signal: AbortSignal, limit: AbortSignal | null, { timeoutMinutes }: StepToRun): string | null => {
  if (signal.aborted) return describeStop(signal.reason);
  if (!limit?.aborted) return null;
  return `was stopped after ${timeoutMinutes} ${timeoutMinutes === 1 ? "minute" : "minutes"} (timeout-minutes)`;
};

/** Reads the step's command files, and logs the reason if the step failed. */
const judge = (options: RunStepOptions, code: number | null, ended: string | null): StepVerdict => {
  const { log, user, folder, output, signal } = options;
  const { problems, ...contents } = options.commandFiles.readAll();
  for (const problem of problems) log.say(problem);
  const why = ended ?? (problems.length > 0 ? "wrote an invalid command file" : null);
  const outcome = signal.aborted ? "cancelled" : why === null ? "success" : "failure";
  if (why !== null) log.say(`The step ${why}`);
  if (outcome === "failure") for (const line of possibleCauses(folder.workspace, user, output)) log.say(line);
  return { outcome, exitCode: code === 0 && why !== null ? 1 : code, ...contents, why };
};

interface TriesOptions {
  /** Runs the step once. `number` counts the step's tries from 1. */
  run(number: number): Promise<StepVerdict>;
  /** Writes a line to the log. */
  say(text: string): void;
  /** Called before each try after the first one. */
  onTry(number: number): void;
  /** Aborted when the step must stop. An abort ends a wait for the next try and prevents that try. */
  signal: AbortSignal;
}

const isWorthIt = ({ on }: Retry, { outcome, exitCode }: StepVerdict): boolean =>
  outcome === "failure" && (on === null || (exitCode !== null && on.includes(exitCode)));

/** The results that remain of a try that is not the last. */
const NOTHING = { outputs: {}, env: {}, path: [], summary: "", artifacts: [] };

/**
 * Runs a step, and retries a failed one up to `retry` times.
 * @returns the last try's end and its results; of earlier tries, only the masks remain
 */
export const runTries = async (
  retry: Retry | null,
  { run, say, onTry, signal }: TriesOptions,
): Promise<StepVerdict> => {
  const most = 1 + (retry?.times ?? 0);
  let end = await run(1);
  for (let number = 2; retry && number <= most && isWorthIt(retry, end); number++) {
    if (retry.waitSeconds > 0) say(`Waiting ${retry.waitSeconds} s before the next try`);
    await sleep(retry.waitSeconds * SECOND_MS, signal);
    if (signal.aborted) {
      const why = describeStop(signal.reason);
      say(`The step ${why}`);
      return { ...NOTHING, outcome: "cancelled", exitCode: end.exitCode, why };
    }
    onTry(number);
    say(`--- try ${number} of ${most}`);
    end = await run(number);
  }
  return end;
};
