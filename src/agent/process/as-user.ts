import { spawn } from "node:child_process";
import { fchownSync, lchownSync, lstatSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { StepUser } from "./step-user.ts";

/*
 * How an agent that is root works on files that steps can change. A step may replace any path by a link, so the agent
 * uses the rights of the steps' user, or the handle of a file that it has just made.
 */

/** `code` is null when a signal ended the command or it could not be started. */
export interface CommandResult {
  code: number | null;
  stderr: string;
}

const STDERR_LIMIT = 1000;

/** Options of `spawn` that run a child as the steps' user, without other groups; without a user, as the agent's. */
export const runAs = (user: StepUser | null): { uid?: number; gid?: number } =>
  user ? { uid: user.uid, gid: user.gid } : {};

/**
 * Runs a script of `sh` as the steps' user, or as the agent's without one. `args` are $1, $2..., `input` is what it
 * reads. Never rejects.
 */
export const runShell = (
  user: StepUser | null,
  script: string,
  args: string[] = [],
  input: Uint8Array | null = null,
): Promise<CommandResult> =>
  new Promise((resolve) => {
    const child = spawn("/bin/sh", ["-c", script, "sh", ...args], {
      cwd: "/",
      env: { PATH: process.env.PATH, LC_ALL: "C" },
      stdio: [input ? "pipe" : "ignore", "ignore", "pipe"],
      ...runAs(user),
    });
    let stderr = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr = `${stderr}${text}`.slice(0, STDERR_LIMIT);
    });
    child.on("error", ({ message }) => resolve({ code: null, stderr: message }));
    child.on("close", (code) => resolve({ code, stderr }));
    // A process that ended without reading is told by its exit code.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });

/** Makes a new file that only the user can read. Use the returned handle: the path may be replaced afterwards. */
export const createFileFor = (user: StepUser | null, path: string): number => {
  const fd = openSync(path, "wx+", 0o600);
  if (user) fchownSync(fd, user.uid, user.gid);
  return fd;
};

/**
 * Makes the user the owner of a folder and its content, the folder itself last: until then only the agent can enter it
 * and replace files. Changes the owner of symbolic links, never of their targets.
 */
export const chownTree = (user: StepUser, path: string): void => {
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) chownTree(user, join(path, name));
  lchownSync(path, user.uid, user.gid);
};
