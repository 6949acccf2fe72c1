import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT, ExitError } from "../cli/exit-codes.ts";
import { readStart } from "./process-table.ts";
import type { StepUser } from "./step-user.ts";

const FILE = "lock";
/** Folder for the locks on steps' users. Only root can write there, and a restart empties it. */
const USER_LOCKS = "/var/run/millrace-agent";

/** Returns this process's id and start time, because the system reuses ids. */
const thisProcess = (): string => `${process.pid} ${readStart(process.pid)}\n`;

const read = (path: string): string | null => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
};

const isAlive = (holder: string): boolean => {
  const [pid = "", start = ""] = holder.trim().split(" ", 2);
  return /^\d+$/.test(pid) && readStart(Number(pid)) !== null && String(readStart(Number(pid))) === start;
};

/** Returns the process id of the agent that runs with this state folder; null without one. */
export const runningAgentPid = (folder: string): number | null => {
  const holder = read(join(folder, FILE));
  return holder !== null && isAlive(holder) ? Number.parseInt(holder, 10) : null;
};

/** Resources that only one agent on a machine may use. */
interface LockAgentOptions {
  state: string;
  work: string;
  user: StepUser | null;
}

/**
 * Locks the state folder, the work folder and the steps' user.
 * @returns the function that releases the locks
 * @throws ExitError when another agent holds one of them
 */
export const lockAgent = ({ state, work, user }: LockAgentOptions): (() => void) => {
  const locks: [folder: string, file: string, use: string][] = [
    [state, FILE, `uses the state folder ${state} (process %): give each agent its own --state`],
    [work, "agent-lock", `uses the work folder ${work} (process %): give each agent its own --work`],
  ];
  if (user) {
    mkdirSync(USER_LOCKS, { recursive: true, mode: 0o755 });
    const use = `runs its steps as ${user.name} (process %), and ends all processes of that user after each build`;
    locks.push([USER_LOCKS, `user-${user.uid}`, `${use}: give each agent its own --run-as`]);
  }
  const releases: (() => void)[] = [];
  const unlock = (): void => {
    for (const release of releases.splice(0)) release();
  };
  try {
    for (const [folder, file, use] of locks) releases.push(take(join(folder, file), use));
    return unlock;
  } catch (error) {
    unlock();
    throw error;
  }
};

/**
 * Links a complete file to the lock's path. First moves a dead holder's lock aside and rereads it, so that only one of
 * two agents that find the dead lock continues.
 */
const take = (path: string, use: string): (() => void) => {
  const mine = `${path}.${process.pid}`;
  const holderLine = thisProcess();
  writeFileSync(mine, holderLine, { mode: 0o600 });
  try {
    for (;;) {
      try {
        linkSync(mine, path);
        return () => {
          if (read(path) === holderLine) rmSync(path, { force: true });
        };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      }
      const holder = read(path);
      if (holder === null) continue;
      if (isAlive(holder)) throw alreadyRunning(use, holder);
      moveAside(path, holder, use);
    }
  } finally {
    rmSync(mine, { force: true });
  }
};

const moveAside = (path: string, stale: string, use: string): void => {
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
    throw alreadyRunning(use, moved);
  }
  rmSync(aside, { force: true });
};

const alreadyRunning = (use: string, holder: string): ExitError =>
  new ExitError(`another agent ${use.replace("%", String(Number.parseInt(holder, 10)))}`, EXIT.alreadyRunning);
