import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MINUTE_MS } from "../../protocol/units.ts";
import { toBuildFailure } from "../build/failure.ts";
import { logger } from "../cli/logger.ts";
import { JobLog } from "../log/job-log.ts";
import { ProcessTree, RUN_ID_VARIABLE } from "../process/process-tree.ts";
import { describeExit } from "../steps/failed-step.ts";
import { hookEnvironment, variablesIn } from "../steps/step-environment.ts";
import { runProcess, StepOutput } from "../steps/step-process.ts";
import { findHooks, type HookFiles, type HookName, UnsafeHook } from "./hook-files.ts";

/** A hook's time limit in milliseconds. */
const HOOK_MILLISECONDS = 5 * MINUTE_MS;

interface RunHookOptions {
  name: HookName;
  files: HookFiles;
  /** The agent's state folder. Only the agent writes to it. */
  state: string;
  variables: Record<string, string>;
  log: JobLog;
  /** The hook's own process tree. It ends separately from the build's tree. */
  tree: ProcessTree;
  /** Milliseconds between SIGTERM and SIGKILL. */
  grace: number;
  milliseconds: number;
  /** Aborted when the hook must stop. */
  signal: AbortSignal;
}

/**
 * Runs a hook as the agent's user and writes its output to a log section. A process that the hook leaves behind
 * continues, unless the agent stopped the hook.
 * @returns the reason for a failure, worded to follow the hook's name; else null
 */
const runHook = async (options: RunHookOptions): Promise<string | null> => {
  const { name, files, state, variables, log, tree, grace, milliseconds, signal } = options;
  const path = files.paths[name];
  if (path === undefined || signal.aborted) return null;
  log.begin(`${name} (hook of this machine's owner)`);
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
    const missingMessage = `cannot enter ${files.folder}`;
    const end = await runProcess(
      { argv: [path], folder: files.folder, missingMessage, env, output: output.fd, user: null },
      tree,
    );
    await terminated;
    await output.drain();
    const why = failureReason(end.code === 0 ? null : describeExit(end), limit, signal, milliseconds);
    if (why !== null) log.say(`${name} ${why}`);
    return why;
  } finally {
    stop.removeEventListener("abort", onStop);
    output.close();
  }
};

const failureReason = (
  ended: string | null,
  limit: AbortSignal,
  signal: AbortSignal,
  milliseconds: number,
): string | null => {
  if (signal.aborted) return "was stopped";
  return limit.aborted ? `was stopped after ${milliseconds / 1000} seconds` : ended;
};

/** The file that marks after-job as due and names its job, even if somebody has killed the agent. */
const NOTE = "after-job-due";

/** Prefix of hooks' run ids. The note contains the run id while a hook runs. */
const OF_HOOK = "hook/";

/** Consecutive before-job failures that indicate a broken machine. */
const MOST_FAILURES = 3;

/** This machine is not ready for the job. Another machine may be. */
export class MachineNotReady extends Error {}

interface JobHooksOptions {
  /** The agent's state folder. */
  state: string;
  /** Milliseconds between SIGTERM and SIGKILL. */
  grace: number;
  /** A hook's time limit in milliseconds. */
  milliseconds?: number;
}

/** A job's facts for its hooks. */
interface HookedJob {
  /** The job's MILLRACE_* variables. */
  variables: Record<string, string>;
  log: JobLog;
  /** Aborted when the hook must stop. */
  signal: AbortSignal;
}

/** The programs that the machine's owner runs before and after each job: `hooks` in the state folder. */
export class JobHooks {
  readonly #options: Required<JobHooksOptions>;
  #failures = 0;
  #trouble: string | null = null;

  constructor(options: JobHooksOptions) {
    this.#options = { milliseconds: HOOK_MILLISECONDS, ...options };
  }

  /** Explains to the owner why this agent must accept no more jobs. Returns null while the agent may accept jobs. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /**
   * Runs before-job once `started` confirms the job for this agent. Does nothing without hooks.
   * @throws MachineNotReady when the hook failed or cannot be trusted, or the signal's reason when it was aborted
   */
  async before(job: HookedJob, started: Promise<void>): Promise<void> {
    const files = this.#trusted();
    if (files === null && this.#trouble === null) return;
    await started;
    if (this.#trouble !== null) throw new MachineNotReady("the agent does not trust the hooks of this machine's owner");
    if (files === null) return;
    const why = await this.#run("before-job", files, job);
    job.signal.throwIfAborted();
    this.#failures = why === null ? 0 : this.#failures + 1;
    if (this.#failures >= MOST_FAILURES)
      this.#trouble = `before-job failed ${this.#failures} times in a row; the last time, it ${why}`;
    if (why !== null) throw new MachineNotReady(`this machine is not ready: the hook before-job ${why}`);
  }

  /**
   * Runs after-job if a job has begun since its last run. If the signal stops after-job, it is due again at the agent's
   * next start.
   */
  async after(job: Omit<HookedJob, "variables">): Promise<void> {
    const note = join(this.#options.state, NOTE);
    if (!existsSync(note)) return;
    const files = this.#trusted();
    if (this.#trouble !== null && files === null) return;
    const variables = variablesIn(readFileSync(note, "utf8"));
    const why = files === null ? null : await this.#run("after-job", files, { ...job, variables });
    if (job.signal.aborted) return;
    if (why === null) rmSync(note, { force: true });
    else this.#trouble = `after-job ${why}`;
  }

  /** Prepares an agent's first job: checks the hooks and cleans up after a killed agent. */
  async recover(signal: AbortSignal, secrets: string[]): Promise<void> {
    this.#trusted();
    if (this.#trouble !== null || !existsSync(join(this.#options.state, NOTE))) return;
    logger.warn("an earlier agent was killed during a job: running after-job");
    await this.#endKilled();
    const log = new JobLog(secrets, ownLog(), () => {});
    await this.after({ log, signal });
    log.flush();
  }

  /** Ends a killed agent's hook, which would otherwise run beside after-job. */
  async #endKilled(): Promise<void> {
    const { state, grace } = this.#options;
    const id = variablesIn(readFileSync(join(state, NOTE), "utf8"))[RUN_ID_VARIABLE];
    if (id?.startsWith(OF_HOOK)) await new ProcessTree(id).terminate(grace);
  }

  /** Returns the hooks; null without hooks. An untrusted hook sets `trouble`, and the result is then also null. */
  #trusted(): HookFiles | null {
    try {
      return findHooks(this.#options.state);
    } catch (error) {
      if (!(error instanceof UnsafeHook)) throw error;
      this.#trouble = error.message;
      return null;
    }
  }

  async #run(name: HookName, files: HookFiles, job: HookedJob): Promise<string | null> {
    const why = await this.#tryToRun(name, files, job).catch(
      (error: unknown) => `could not be run: ${toBuildFailure(error).message}`,
    );
    if (why !== null) logger.warn(`${name} ${why}`);
    return why;
  }

  async #tryToRun(name: HookName, files: HookFiles, job: HookedJob): Promise<string | null> {
    const isNoted = files.paths["after-job"] !== undefined;
    const tree = new ProcessTree(`${OF_HOOK}${randomUUID()}`);
    if (isNoted) this.#note({ ...job.variables, ...tree.env });
    const why = await runHook({ ...this.#options, ...job, name, files, tree });
    if (isNoted) this.#note(job.variables);
    return why;
  }

  /** Writes a new file and renames it, so that a crash leaves either a complete note or no note. */
  #note(variables: Record<string, string>): void {
    const path = join(this.#options.state, NOTE);
    const fresh = `${path}.${process.pid}`;
    rmSync(fresh, { force: true });
    writeFileSync(fresh, JSON.stringify(variables), { mode: 0o600, flag: "wx" });
    renameSync(fresh, path);
  }
}

/** Writes to the agent's own log, for a hook whose job has no log any more. */
const ownLog = () => ({
  size: 0,
  write: (bytes: Uint8Array): void => {
    process.stderr.write(bytes);
  },
});
