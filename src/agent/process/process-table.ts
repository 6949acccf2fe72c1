import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { MIB } from "../../protocol/units.ts";

/**
 * One process of the system. `pid` and `start` together identify it. `hasRunId` refers to the build in question. `uid`
 * and `hasRunId` are functions because each reads a file, and few of the many processes need them.
 */
export interface ProcessRow {
  pid: number;
  parent: number;
  group: number;
  start: string;
  uid(): number;
  hasRunId(): boolean;
}

/** Returns the fields of /proc/PID/stat (proc(5)) after the command's name, which may contain spaces and brackets. */
const statFields = (pid: number | string): string[] | null => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
};

const hasVariable = (pid: number, variable: string): boolean => {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(variable);
  } catch {
    return false;
  }
};

const readOwner = (pid: number): number => {
  try {
    return statSync(`/proc/${pid}`).uid;
  } catch {
    return -1;
  }
};

const linuxTable = (variable: string): ProcessRow[] =>
  readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const fields = statFields(name);
    const [state, parent, group] = fields ?? [];
    if (!fields || state === "Z" || state === "X") return [];
    const pid = Number(name);
    return [
      {
        pid,
        parent: Number(parent),
        group: Number(group),
        start: fields[19] ?? "",
        uid: () => readOwner(pid),
        hasRunId: () => hasVariable(pid, variable),
      },
    ];
  });

const PS_ROW = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/;

/** Reads the processes on macOS, where `ps -E` prints the environment after the command. */
const psTable = (variable: string): ProcessRow[] =>
  execFileSync("ps", ["-axEww", "-o", "pid=,ppid=,pgid=,uid=,stat=,lstart=,command="], {
    encoding: "latin1",
    maxBuffer: 256 * MIB,
    env: { PATH: "/bin:/usr/bin", LC_ALL: "C" },
  })
    .split("\n")
    .flatMap((line) => {
      const [, pid, parent, group, uid, state, start = "", command = ""] = PS_ROW.exec(line) ?? [];
      if (pid === undefined || state?.startsWith("Z")) return [];
      return [
        {
          pid: Number(pid),
          parent: Number(parent),
          group: Number(group),
          start: start.replaceAll(/\s+/g, "-"),
          uid: () => Number(uid),
          hasRunId: () => ` ${command} `.includes(` ${variable} `),
        },
      ];
    });

/**
 * Returns all processes except zombies. `variable` is `NAME=value`. The search looks for it in each process's initial
 * environment.
 */
export const processTable = (variable: string): ProcessRow[] =>
  process.platform === "linux" ? linuxTable(variable) : psTable(variable);

/** Returns a process's start time as in `ProcessRow.start` on Linux; null elsewhere and without such a process. */
export const startTicks = (pid: number): number | null => {
  const start = process.platform === "linux" ? statFields(pid)?.[19] : undefined;
  return start === undefined ? null : Number(start);
};

/** Returns a process's start time in a form that only allows comparison; null without such a process. */
export const readStart = (pid: number): string | null => {
  if (process.platform === "linux") {
    const fields = statFields(pid);
    return fields && fields[0] !== "Z" ? `${bootId()}:${fields[19]}` : null;
  }
  try {
    const text = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "latin1" });
    return text.trim().replaceAll(/\s+/g, "-") || null;
  } catch {
    return null;
  }
};

const bootId = (): string => {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch {
    return "";
  }
};
