import { spawn } from "node:child_process";
import { constants } from "node:os";
import type { Writable } from "node:stream";
import type { ProcessTree } from "../process/process-tree.ts";
import { runAs, type StepUser } from "../process/step-user.ts";

interface RunProcessOptions {
  argv: [program: string, ...args: string[]];
  folder: string;
  /** Log line for a folder that does not exist, or that the step's user may not enter. */
  missingMessage: string;
  env: Record<string, string>;
  /** File descriptor of standard output and error. */
  output: number;
  user: StepUser | null;
}

export interface ProcessEnd {
  /** 128 + N when signal N ended it, as shells do. */
  code: number;
  signal: NodeJS.Signals | null;
}

/**
 * Starts the step's program: waits until the process is in the build's process tree, enters the folder with the step's
 * rights, and then replaces itself by the program.
 */
const START_SCRIPT = `read -r _ <&3 || exit 125
exec 3<&-
cd -P -- "$1" 2> /dev/null || { printf '%s\\n' "$2"; exit 127; }
unset OLDPWD _
shift 2
exec "$@"`;

/** Runs a step as the leader of its own process group, without input. @throws when it cannot be started. */
export const runProcess = (
  { argv, folder, missingMessage, env, output, user }: RunProcessOptions,
  tree: ProcessTree,
): Promise<ProcessEnd> =>
  new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", START_SCRIPT, "sh", folder, missingMessage, ...argv], {
      cwd: "/",
      env,
      detached: true,
      stdio: ["ignore", output, output, "pipe"],
      ...runAs(user),
    });
    child.on("error", reject);
    if (child.pid !== undefined) tree.add(child.pid);
    const gate = child.stdio[3] as Writable;
    // The process may end before it reads the line: the exit code then says why.
    gate.on("error", () => {});
    gate.end("\n");
    child.on("exit", (code, signal) => {
      resolve({ code: code ?? 128 + (signal ? constants.signals[signal] : 0), signal });
    });
  });
