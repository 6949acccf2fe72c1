import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

interface Process {
  id: number;
  parent: number;
  bytes: number;
  name: string;
}

const processes = (): Process[] =>
  execFileSync("ps", ["-A", "-o", "pid=,ppid=,rss=,comm="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .map(([id, parent, kilobytes, name = ""]) => {
      return { id: Number(id), parent: Number(parent), bytes: Number(kilobytes) * 1024, name };
    });

/** Returns the ids of the workerd processes that this program has started. */
export const workerdProcesses = (): number[] =>
  processes()
    .filter(({ parent, name }) => parent === process.pid && name.includes("workerd"))
    .map(({ id }) => id);

/** Returns a process's resident bytes. */
export const memoryOf = (id: number): number => processes().find((process) => process.id === id)?.bytes ?? Number.NaN;

const TICK_MS = 10;

/** Returns a process's used CPU milliseconds, by proc(5). Only Linux has this figure. */
export const cpuOf = (id: number): number => {
  const fields = readFileSync(`/proc/${id}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
};
