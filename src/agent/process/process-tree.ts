import { readdirSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Cgroup } from "./cgroup.ts";
import { type ProcessRow, processTable, startTicks } from "./process-table.ts";
import { runShell, type StepUser } from "./step-user.ts";

const target = (link: string): string => {
  try {
    return readlinkSync(link);
  } catch {
    return "";
  }
};

const openHandles = (pid: number): string[] => {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`);
  } catch {
    return [];
  }
};

/**
 * Reports whether a process has its working directory or an open file in the folder. Returns false without /proc, as on
 * a Mac.
 */
const hasOpenFileUnder = (pid: number, folder: string): boolean =>
  [`/proc/${pid}/cwd`, ...openHandles(pid)].some((link) => `${target(link)}/`.startsWith(`${folder}/`));

/** A variable in the environment of every build process. It identifies the build and its attempt. */
export const RUN_ID_VARIABLE = "MILLRACE_RUN_ID";

/** Milliseconds between two scans. */
const SCAN_EVERY = 50;
/** Milliseconds after which `terminate` stops its attempts to kill. */
const KILL_LIMIT = 5000;
/** Empty scans required in a row, because one scan may miss a chain of processes that fork and exit. */
const EMPTY_SCANS = 2;

/** Optional features that identify a build's processes besides the run id. */
export interface ProcessTreeOptions {
  user?: StepUser | null;
  cgroup?: Cgroup | null;
  /** The build's folder. A process with an open file in it belongs to the build. */
  folder?: string | null;
}

/**
 * All processes that one build has started. Each step is a process group. The control group or the steps' user
 * identifies a process that left its group with setsid. Without them, its run id in the environment, its parent or its
 * open files identify it.
 */
export class ProcessTree {
  /** Variables for each child's environment. They identify the child and its children. */
  readonly env: Record<string, string>;
  readonly #user: StepUser | null;
  readonly #cgroup: Cgroup | null;
  readonly #folders: string[] = [];
  readonly #groups = new Set<number>();
  readonly #startTimes = new Map<number, string>();
  #since: number | null = null;

  /** `runId` identifies one attempt, because another agent on this machine may run the build's next attempt. */
  constructor(runId: string, { user = null, cgroup = null, folder = null }: ProcessTreeOptions = {}) {
    this.env = { [RUN_ID_VARIABLE]: runId };
    this.#user = user;
    this.#cgroup = cgroup;
    if (folder !== null) this.#folders.push(folder);
  }

  /** Adds a folder. A process with an open file in this folder also belongs to the build. */
  lookIn(folder: string): void {
    this.#folders.push(folder);
  }

  /**
   * Adds a child that leads its own process group and has not started other processes yet. Resolves when the kernel
   * keeps its children together. Until then, the child's group, run id and parent identify it.
   */
  async add(pid: number): Promise<void> {
    this.#groups.add(pid);
    this.#since ??= startTicks(pid);
    await this.#cgroup?.add(pid);
  }

  /** Returns the ids of the living processes. */
  living(): number[] {
    const rows = processTable(`${RUN_ID_VARIABLE}=${this.env[RUN_ID_VARIABLE]}`).filter(
      (row) => row.pid !== process.pid,
    );
    const members = new Set(this.#cgroup?.members());
    const own = new Map(rows.filter((row) => this.#belongs(row, members)).map((row) => [row.pid, row]));
    for (let before = -1; before !== own.size; ) {
      before = own.size;
      for (const row of rows) if (own.has(row.parent)) own.set(row.pid, row);
    }
    for (const row of own.values()) this.#startTimes.set(row.pid, row.start);
    return [...own.keys()];
  }

  #belongs(row: ProcessRow, members: Set<number>): boolean {
    if (this.#groups.has(row.group) || members.has(row.pid)) return true;
    if (this.#startTimes.get(row.pid) === row.start) return true;
    if (this.#user !== null && this.#user.uid === row.uid()) return true;
    // No build process is older than the build's first one.
    if (Number(row.start) < (this.#since ?? 0)) return false;
    return row.hasRunId() || this.#hasOpenFile(row);
  }

  /** Reports open files. Checks only the agent user's processes, and only without a control group or user. */
  #hasOpenFile(row: ProcessRow): boolean {
    if (this.#user || this.#cgroup || this.#folders.length === 0 || row.uid() !== process.getuid?.()) return false;
    return this.#folders.some((folder) => hasOpenFileUnder(row.pid, folder));
  }

  /**
   * Sends SIGTERM to all processes, waits at most `grace` milliseconds, then sends SIGKILL.
   * @returns whether all have ended. This is rarely false: the disk is broken, or processes fork faster than the agent
   * kills them.
   */
  async terminate(grace: number): Promise<boolean> {
    let living = this.living();
    signalAll(living, "SIGTERM");
    signalAll(living, "SIGCONT");
    for (const until = Date.now() + grace; living.length > 0 && Date.now() < until; living = this.living())
      await delay(SCAN_EVERY);
    const isEmpty = await this.#kill();
    this.#groups.clear();
    return isEmpty;
  }

  async #kill(): Promise<boolean> {
    const until = Date.now() + KILL_LIMIT;
    for (let empty = 0; empty < EMPTY_SCANS; ) {
      const isComplete = await this.#killAtOnce();
      const living = this.living();
      signalAll(living, "SIGKILL");
      if (isComplete && living.length === 0 && !this.#cgroup?.isPopulated) {
        empty++;
        continue;
      }
      if (Date.now() > until) return false;
      empty = 0;
      await delay(SCAN_EVERY);
    }
    return true;
  }

  /**
   * Lets the kernel kill the control group or all the user's processes at once. If the agent killed them one by one,
   * processes could fork faster than it finds them.
   * @returns false when the killing process itself died first
   */
  async #killAtOnce(): Promise<boolean> {
    this.#cgroup?.kill();
    if (this.#user === null) return true;
    const { code } = await runShell(this.#user, "kill -s KILL -- -1");
    return code === KILLED || code === NO_PROCESS;
  }
}

const KILLED = 0;
const NO_PROCESS = 1;

/**
 * Signals one process. Ignores a process that has ended or cannot be signalled (a set-uid program), because the next
 * scan decides.
 */
const signalOne = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
};

const signalAll = (pids: number[], signal: NodeJS.Signals): void => {
  for (const pid of pids) signalOne(pid, signal);
};

/** Signals the process group that `leader` leads. */
export const signalGroup = (leader: number, signal: NodeJS.Signals): void => signalOne(-leader, signal);
