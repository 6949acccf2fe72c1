import { execFileSync } from "node:child_process";
import { onTestFinished } from "vitest";
import { testFolder } from "./folder.ts";

/** Only root can mount a disk, and only Linux has tmpfs. */
export const CAN_MOUNT = process.getuid?.() === 0 && process.platform === "linux";

/** Mounts a disk of 5 MB and unmounts it after the test. */
export const smallDisk = (): string => {
  const path = testFolder();
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=5m", "tmpfs", path]);
  onTestFinished(() => void execFileSync("umount", ["--lazy", path]));
  return path;
};
