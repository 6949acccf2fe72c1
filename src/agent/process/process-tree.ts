import { setTimeout as delay } from "node:timers/promises";
import { runShell } from "./as-user.ts";
import type { Cgroup } from "./cgroup.ts";
import { hasOpenFileUnder } from "./open-files.ts";
import { type ProcessRow, processTable, startTicks } from "./process-table.ts";
import type { StepUser } from "./step-user.ts";

/** Name under which every process of a build carries which run of which build it belongs to. */
export const RUN_ID_VARIABLE = "MILLRACE_RUN_ID";

const LOOK_EVERY = 50;
const KILL_FOR = 5000;
/** Looks in a row that find nothing: one may miss a chain of processes that fork and exit. */
const EMPTY_LOOKS = 2;

/** By what a build's processes are known besides the run's id; each where there is one. */
export interface ProcessTreeOptions {
  user?: StepUser | null;
  cgroup?: Cgroup | null;
  /** The build's folder: who has a file or pipe in it open belongs to the build. */
  folder?: string | null;
}

/**
 * Everything that one build has started. A step is its own process group; what left the group with setsid is known by
 * the build's control group or the steps' user, and where there is neither by the run's id in its environment, a known
 * parent, or what it holds open.
 */
export class ProcessTree {
  /** What a child is given in its environment, so that it and its children can be found. */
  readonly env: Record<string, string>;
  readonly #user: StepUser | null;
  readonly #cgroup: Cgroup | null;
  readonly #folder: string | null;
  readonly #groups = new Set<number>();
  readonly #known = new Map<number, string>();
  #since: number | null = null;

  /** `runId` is of one attempt: another agent on this machine may be at the same build's next one. */
  constructor(runId: string, { user = null, cgroup = null, folder = null }: ProcessTreeOptions = {}) {
    this.env = { [RUN_ID_VARIABLE]: runId };
    this.#user = user;
    this.#cgroup = cgroup;
    this.#folder = folder;
  }

  /** A child that leads a process group of its own, and has not started another yet. */
  add(pid: number): void {
    this.#groups.add(pid);
    this.#since ??= startTicks(pid);
    this.#cgroup?.add(pid);
  }

  /** Those of the tree that live now. */
  living(): number[] {
    const rows = processTable(`${RUN_ID_VARIABLE}=${this.env[RUN_ID_VARIABLE]}`).filter(
      (row) => row.pid !== process.pid,
    );
    const members = new Set(this.#cgroup?.members());
    const found = new Map(rows.filter((row) => this.#isOurs(row, members)).map((row) => [row.pid, row]));
    for (let before = -1; before !== found.size; ) {
      before = found.size;
      for (const row of rows) if (found.has(row.parent)) found.set(row.pid, row);
    }
    for (const row of found.values()) this.#known.set(row.pid, row.start);
    return [...found.keys()];
  }

  #isOurs(row: ProcessRow, members: Set<number>): boolean {
    return (
      this.#groups.has(row.group) ||
      row.hasRunId ||
      members.has(row.pid) ||
      this.#user?.uid === row.uid ||
      this.#known.get(row.pid) === row.start ||
      this.#holdsOurs(row)
    );
  }

  /** Only looked for where nothing surer is, and only of the agent's own processes that are younger than the build. */
  #holdsOurs(row: ProcessRow): boolean {
    if (this.#user || this.#cgroup || this.#folder === null || row.uid !== process.getuid?.()) return false;
    return Number(row.start) >= (this.#since ?? 0) && hasOpenFileUnder(row.pid, this.#folder);
  }

  /**
   * Asks all of it to end (SIGTERM), waits `grace` milliseconds at most, then ends it (SIGKILL).
   * @returns whether nothing of it lives, which only a broken disk or kernel, or a fight over processes, prevents.
   */
  async terminate(grace: number): Promise<boolean> {
    let living = this.living();
    signalAll(living, "SIGTERM");
    signalAll(living, "SIGCONT");
    for (const until = Date.now() + grace; living.length > 0 && Date.now() < until; living = this.living())
      await delay(LOOK_EVERY);
    const isEmpty = await this.#kill();
    this.#groups.clear();
    return isEmpty;
  }

  async #kill(): Promise<boolean> {
    const until = Date.now() + KILL_FOR;
    for (let empty = 0; empty < EMPTY_LOOKS; ) {
      const isWhole = await this.#killAtOnce();
      const living = this.living();
      signalAll(living, "SIGKILL");
      if (isWhole && living.length === 0 && !this.#cgroup?.isPopulated) {
        empty++;
        continue;
      }
      if (Date.now() > until) return false;
      empty = 0;
      await delay(LOOK_EVERY);
    }
    return true;
  }

  /**
   * What is ended one by one can fork faster than it is found; the kernel ends a control group, or all of a user, at
   * once. @returns false when the killing process was itself ended first.
   */
  async #killAtOnce(): Promise<boolean> {
    this.#cgroup?.kill();
    if (this.#user === null) return true;
    const { code } = await runShell(this.#user, "kill -s KILL -- -1");
    return code === KILLED || code === NOBODY_THERE;
  }
}

const KILLED = 0;
const NOBODY_THERE = 1;

/** One that has just ended, or may not be signalled (a set-uid program), is for the next look to judge. */
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

/** All of the process group that `leader` leads. */
export const signalGroup = (leader: number, signal: NodeJS.Signals): void => signalOne(-leader, signal);
