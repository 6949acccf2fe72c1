import { execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { accessSync, constants, fchownSync, lchownSync, lstatSync, openSync, readdirSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { EXIT, ExitError } from "../cli/exit-codes.ts";

/** The user for steps, from --run-as. */
export interface StepUser {
  name: string;
  uid: number;
  gid: number;
}

/** Reports whether this is a safe login name, because it may become a command's argument. */
export const isUserName = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_.-]*\$?$/.test(name);

const readOutput = (command: string, args: string[]): string =>
  execFileSync(command, args, { encoding: "utf8" }).trim();

/** Finds the user. @throws ExitError when the user does not exist, or the agent may not become it */
export const findStepUser = (name: string): StepUser => {
  if (!isUserName(name)) throw new ExitError("--run-as must be the name of a user", EXIT.usage);
  if (process.getuid?.() !== 0)
    throw new ExitError(
      "--run-as requires an agent that runs as root: only root can switch to another user",
      EXIT.usage,
    );
  try {
    const uid = Number(readOutput("id", ["-u", "--", name]));
    const gid = Number(readOutput("id", ["-g", "--", name]));
    if (uid === 0) throw new ExitError("--run-as must not be root", EXIT.usage);
    return { name, uid, gid };
  } catch (error) {
    if (error instanceof ExitError) throw error;
    throw new ExitError(`--run-as: user ${name} does not exist on this machine`, EXIT.usage);
  }
};

/*
 * Rules for an agent that runs as root and touches files that steps can change. A step may replace any path by a link.
 * The agent therefore uses the rights of the steps' user, or the handle of a file that it has just created.
 */

/** `code` is null when a signal ended the command or it could not start. */
export interface CommandResult {
  code: number | null;
  stderr: string;
}

const STDERR_LIMIT = 1000;

/**
 * Returns options for `spawn` that run a child as the steps' user, without other groups. Without a user, the child runs
 * as the agent's user.
 */
export const runAs = (user: StepUser | null): { uid?: number; gid?: number } =>
  user ? { uid: user.uid, gid: user.gid } : {};

/**
 * Runs an `sh` script as the steps' user. Without a user, the script runs as the agent's user. `args` are $1, $2...,
 * `input` is the standard input. Never rejects.
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
    // A process may end without reading. Its exit code then explains why.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });

/** Creates a file that only the user can read. Use the returned handle, because a step may replace the path later. */
export const createFileFor = (user: StepUser | null, path: string): number => {
  const fd = openSync(path, "wx+", 0o600);
  if (user) fchownSync(fd, user.uid, user.gid);
  return fd;
};

/**
 * Gives the user a folder and its content, the folder itself last. Until then only the agent can enter the folder and
 * replace files. Changes the owner of symbolic links, never of their targets.
 */
export const chownTree = (user: StepUser, path: string): void => {
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) chownTree(user, join(path, name));
  lchownSync(path, user.uid, user.gid);
};

/**
 * Prevents a core dump of this process, whose memory contains secrets, on machines with prlimit(1). Steps inherit the
 * limit and may raise it with `ulimit -S -c`.
 */
export const leaveNoCoreDumps = (): void => {
  if (process.platform === "linux")
    spawnSync("prlimit", ["--pid", String(process.pid), "--core=0:"], { stdio: "ignore" });
};

/** Prints the first argument that is a file this shell's user may run. */
const FIRST_RUNNABLE = 'for file; do [ -f "$file" ] && [ -x "$file" ] && printf %s "$file" && exit; done; exit 1';

/** Reports whether the agent itself may run this file. */
const mayRun = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
};

/** Returns the first file that the user may run. Root may run files that this user may not. */
const firstRunnable = async (user: StepUser | null, files: string[]): Promise<string | undefined> => {
  if (user === null) return files.find(mayRun);
  const options = { cwd: "/", env: {}, ...runAs(user) };
  const found = await promisify(execFile)("/bin/sh", ["-c", FIRST_RUNNABLE, "sh", ...files], options).catch(() => null);
  return found?.stdout;
};

/**
 * Finds a program. With the rights of the user who will run it, searches the folders of the build's tools, or the
 * agent's own PATH. Ignores the step's PATH.
 * @throws when the program is missing
 */
export const findProgram = async (name: string, user: StepUser | null, before: string[] = []): Promise<string> => {
  const folders = [...before, ...(process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin").split(delimiter)];
  const files = folders.filter((folder) => folder.startsWith("/")).map((folder) => join(folder, name));
  const found = await firstRunnable(user, files);
  if (found !== undefined) return found;
  throw new Error(`${name} is not installed on this agent${user ? `, or ${user.name} cannot run it` : ""}`);
};
