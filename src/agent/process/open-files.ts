import { readdirSync, readlinkSync } from "node:fs";

const target = (link: string): string => {
  try {
    return readlinkSync(link);
  } catch {
    return "";
  }
};

const handlesOf = (pid: number): string[] => {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`);
  } catch {
    return [];
  }
};

/** Whether a process has its working directory or an open file in the folder. Always false without /proc, as on a Mac. */
export const hasOpenFileUnder = (pid: number, folder: string): boolean =>
  [`/proc/${pid}/cwd`, ...handlesOf(pid)].some((link) => `${target(link)}/`.startsWith(`${folder}/`));
