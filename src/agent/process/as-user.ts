import { spawn } from "node:child_process";
import { fchownSync, lchownSync, lstatSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { StepUser } from "./step-user.ts";

/*
 * What an agent that is root does where steps have been. Never by a path that a step can bend (a link, a swapped
 * folder): with the rights of the steps' user, or by a handle on a file that was made new.
 */

/** How a command ended. `code` is null when a signal ended it or it could not be started. */
export interface CommandResult {
  code: number | null;
  stderr: string;
}

const STDERR_KEPT = 1000;

/** What a child has for its rights to be those of the steps' user, and of no group besides; without one, the agent's. */
export const runAs = (user: StepUser | null): { uid?: number; gid?: number } =>
  user ? { uid: user.uid, gid: user.gid } : {};

/** Runs commands of `sh` with the rights of the steps' user, or the agent's own without one. `args` are $1, $2... */
export const runShell = (user: StepUser | null, script: string, args: string[] = []): Promise<CommandResult> =>
  new Promise((resolve) => {
    const child = spawn("/bin/sh", ["-c", script, "sh", ...args], {
      cwd: "/",
      env: { PATH: process.env.PATH, LC_ALL: "C" },
      stdio: ["ignore", "ignore", "pipe"],
      ...runAs(user),
    });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr = `${stderr}${text}`.slice(0, STDERR_KEPT);
    });
    child.on("error", ({ message }) => resolve({ code: null, stderr: message }));
    child.on("close", (code) => resolve({ code, stderr }));
  });

/** Makes a file that was not there, for the user alone. By its handle: what bears its name afterwards can change. */
export const createFileFor = (user: StepUser | null, path: string): number => {
  const fd = openSync(path, "wx+", 0o600);
  if (user) fchownSync(fd, user.uid, user.gid);
  return fd;
};

/**
 * Gives a folder and all in it to the user, itself last: until then nobody but the agent may enter it and swap what is
 * inside. Symbolic links themselves, never what they lead to.
 */
export const chownTree = (user: StepUser, path: string): void => {
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) chownTree(user, join(path, name));
  lchownSync(path, user.uid, user.gid);
};
