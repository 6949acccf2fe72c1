import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT, Stop } from "./exit-codes.ts";
import { startOf } from "./process-table.ts";

const FILE = "lock";

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
export const holderOf = (folder: string): number | null => {
  const holder = read(join(folder, FILE));
  return holder !== null && isAlive(holder) ? Number.parseInt(holder, 10) : null;
};

/**
 * Takes the state folder for this process and returns what gives it back. The file appears whole by linking; a dead
 * holder's is first moved aside and looked at again, so that of two who find it only one goes on.
 * @throws Stop while another agent runs in it.
 */
export const lockFolder = (folder: string): (() => void) => {
  const path = join(folder, FILE);
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
      if (isAlive(holder)) throw alreadyRunning(folder, holder);
      moveAside(path, holder, folder);
    }
  } finally {
    rmSync(mine, { force: true });
  }
};

const moveAside = (path: string, stale: string, folder: string): void => {
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
    throw alreadyRunning(folder, moved);
  }
  rmSync(aside, { force: true });
};

const alreadyRunning = (folder: string, holder: string): Stop =>
  new Stop(
    `an agent already runs in ${folder} (process ${Number.parseInt(holder, 10)}): give each its own --state`,
    EXIT.alreadyRunning,
  );
