import { execFileSync } from "node:child_process";

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

/** The ids of the workerd processes that this program has started. */
export const workerdProcesses = (): number[] =>
  processes()
    .filter(({ parent, name }) => parent === process.pid && name.includes("workerd"))
    .map(({ id }) => id);

/** Resident bytes of a process. */
export const memoryOf = (id: number): number => processes().find((process) => process.id === id)?.bytes ?? Number.NaN;
