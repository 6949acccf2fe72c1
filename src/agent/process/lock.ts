import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT, ExitError } from "../cli/exit-codes.ts";
import { startOf } from "./process-table.ts";
import type { StepUser } from "./step-user.ts";

const FILE = "lock";
/** Locks of steps' users: where only root writes, and nothing outlives the machine's next start. */
const USERS = "/var/run/millrace-agent";

/** A process by its number and when it began: the number alone is given away again. */
const me = (): string => `${process.pid} ${startOf(process.pid)}\n`;

const read = (path: string): string | null => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
};

const isAlive = (holder: string): boolean => {
  const [pid = "", start = ""] = holder.trim().split(" ", 2);
  return /^\d+$/.test(pid) && startOf(Number(pid)) !== null && String(startOf(Number(pid))) === start;
};

/** The process id of the agent that runs in this state folder now, or null. */
export const runningAgentPid = (folder: string): number | null => {
  const holder = read(join(folder, FILE));
  return holder !== null && isAlive(holder) ? Number.parseInt(holder, 10) : null;
};

/** What one agent alone may have on a machine. */
export interface LockAgentOptions {
  state: string;
  work: string;
  user: StepUser | null;
}

/**
 * Takes all that an agent needs for itself, and returns what gives it back.
 * @throws Stop while another agent has any of it.
 */
export const lockAgent = ({ state, work, user }: LockAgentOptions): (() => void) => {
  const locks: [folder: string, file: string, word: string][] = [
    [state, FILE, `runs in ${state} (process %): give each its own --state`],
    [work, "agent-lock", `has its builds in ${work} (process %): give each its own --work`],
  ];
  if (user) {
    mkdirSync(USERS, { recursive: true, mode: 0o755 });
    const word = `runs its steps as ${user.name} (process %), and ends all of that user after each build`;
    locks.push([USERS, `user-${user.uid}`, `${word}: give each its own --run-as`]);
  }
  const taken: (() => void)[] = [];
  const unlock = (): void => {
    for (const give of taken.splice(0)) give();
  };
  try {
    for (const [folder, file, word] of locks) taken.push(take(join(folder, file), word));
    return unlock;
  } catch (error) {
    unlock();
    throw error;
  }
};

/**
 * The file appears whole by linking; a dead holder's is first moved aside and looked at again, so that of two who find
 * it only one goes on.
 */
const take = (path: string, word: string): (() => void) => {
  const mine = `${path}.${process.pid}`;
  const mark = me();
  writeFileSync(mine, mark, { mode: 0o600 });
  try {
    for (;;) {
      try {
        linkSync(mine, path);
        return () => {
          if (read(path) === mark) rmSync(path, { force: true });
        };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      }
      const holder = read(path);
      if (holder === null) continue;
      if (isAlive(holder)) throw alreadyRunning(word, holder);
      moveAside(path, holder, word);
    }
  } finally {
    rmSync(mine, { force: true });
  }
};

const moveAside = (path: string, stale: string, word: string): void => {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  const moved = read(aside);
  if (moved !== null && moved !== stale) {
    linkSync(aside, path);
    rmSync(aside, { force: true });
    throw alreadyRunning(word, moved);
  }
  rmSync(aside, { force: true });
};

const alreadyRunning = (word: string, holder: string): ExitError =>
  new ExitError(`another agent ${word.replace("%", String(Number.parseInt(holder, 10)))}`, EXIT.alreadyRunning);
