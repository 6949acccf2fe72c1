import { setTimeout as delay } from "node:timers/promises";
import { type ProcessRow, processTable } from "./process-table.ts";

/** Name under which every process of a build carries which run of which build it belongs to. */
export const MARK = "MILLRACE_RUN_ID";

const LOOK_EVERY = 50;
const KILL_FOR = 5000;

/**
 * Everything that one build has started. A step is its own process group; what left the group with setsid is known by
 * the run's id in its environment, by a known parent, or, when steps have a user of their own, by that user.
 */
export class ProcessTree {
  /** What a child is given in its environment, so that it and its children can be found. */
  readonly mark: Record<string, string>;
  readonly #uid: number | null;
  readonly #groups = new Set<number>();
  readonly #known = new Map<number, string>();

  /** `runId` is of one attempt: another agent on this machine may be at the same build's next one. */
  constructor(runId: string, uid: number | null = null) {
    this.mark = { [MARK]: runId };
    this.#uid = uid;
  }

  /** A child that leads a process group of its own. */
  add(pid: number): void {
    this.#groups.add(pid);
  }

  /** Those of the tree that live now. */
  living(): number[] {
    const rows = processTable(`${MARK}=${this.mark[MARK]}`).filter((row) => row.pid !== process.pid);
    const found = new Map(rows.filter((row) => this.#isOurs(row)).map((row) => [row.pid, row]));
    for (let before = -1; before !== found.size; ) {
      before = found.size;
      for (const row of rows) if (found.has(row.parent)) found.set(row.pid, row);
    }
    for (const row of found.values()) this.#known.set(row.pid, row.start);
    return [...found.keys()];
  }

  #isOurs(row: ProcessRow): boolean {
    return (
      this.#groups.has(row.group) ||
      row.carriesMark ||
      (this.#uid !== null && row.uid === this.#uid) ||
      this.#known.get(row.pid) === row.start
    );
  }

  /**
   * Asks all of it to end (SIGTERM), waits `grace` milliseconds at most, then ends it (SIGKILL).
   * @returns the process ids that even that did not end, which only a broken disk or kernel explains.
   */
  async end(grace: number): Promise<number[]> {
    let living = this.living();
    signalAll(living, "SIGTERM");
    signalAll(living, "SIGCONT");
    for (const until = Date.now() + grace; living.length > 0 && Date.now() < until; living = this.living())
      await delay(LOOK_EVERY);
    for (const until = Date.now() + KILL_FOR; living.length > 0 && Date.now() < until; living = this.living()) {
      signalAll(living, "SIGKILL");
      await delay(LOOK_EVERY);
    }
    this.#groups.clear();
    return living;
  }
}

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
