import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";

/** One process as the system tells it. `start` with `pid` names it for good; `mark` is its build's, if it has one. */
export interface ProcessRow {
  pid: number;
  parent: number;
  group: number;
  uid: number;
  start: string;
  hasRunId: boolean;
}

/** Fields of /proc/PID/stat after the command's name, which may itself hold spaces and brackets. */
const statFields = (pid: number | string): string[] | null => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
};

const hasVariable = (pid: number, mark: string): boolean => {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(mark);
  } catch {
    return false;
  }
};

const ownerOf = (pid: number): number => {
  try {
    return statSync(`/proc/${pid}`).uid;
  } catch {
    return -1;
  }
};

const linuxTable = (mark: string): ProcessRow[] =>
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
        uid: ownerOf(pid),
        start: fields[19] ?? "",
        hasRunId: hasVariable(pid, mark),
      },
    ];
  });

const PS_ROW = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/;

/** macOS: `ps -E` writes the environment behind the command. */
const psTable = (mark: string): ProcessRow[] =>
  execFileSync("ps", ["-axEww", "-o", "pid=,ppid=,pgid=,uid=,stat=,lstart=,command="], {
    encoding: "latin1",
    maxBuffer: 256 * 1024 * 1024,
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
          uid: Number(uid),
          start: start.replaceAll(/\s+/g, "-"),
          hasRunId: ` ${command} `.includes(` ${mark} `),
        },
      ];
    });

/** Every living process but zombies. `mark` is `NAME=value`, looked for in the environment each was started with. */
export const processTable = (mark: string): ProcessRow[] =>
  process.platform === "linux" ? linuxTable(mark) : psTable(mark);

/** When a process began, as `ProcessRow.start` has it on Linux; null elsewhere and when there is none. */
export const startTicks = (pid: number): number | null => {
  const start = process.platform === "linux" ? statFields(pid)?.[19] : undefined;
  return start === undefined ? null : Number(start);
};

/** When a process began, in a form only to be compared; null when there is none. */
export const startOf = (pid: number): string | null => {
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
