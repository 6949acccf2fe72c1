import { spawnSync } from "node:child_process";

/**
 * Keeps this process, whose memory has secrets, from leaving a core dump, where the machine has prlimit(1). Steps
 * inherit that, and may raise it by `ulimit -S -c`.
 */
export const leaveNoCoreDumps = (): void => {
  if (process.platform === "linux")
    spawnSync("prlimit", ["--pid", String(process.pid), "--core=0:"], { stdio: "ignore" });
};
