import { execFile, spawn } from "node:child_process";
import { closeSync, constants as fsConstants, openSync, readFileSync } from "node:fs";
import { Socket } from "node:net";
import { constants } from "node:os";
import type { Writable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { promisify } from "node:util";
import { SECOND_MS } from "../../protocol/units.ts";
import type { ProcessTree } from "../process/process-tree.ts";
import { runAs, type StepUser } from "../process/step-user.ts";

/** Milliseconds in which processes that outlive their step may still write to the log before the next step. */
const DRAIN_MILLISECONDS = SECOND_MS;

/**
 * The pipe to which all a build's processes write, so that standard output and error keep their order. It is a named
 * pipe. Node's own pipes are sockets, which a script cannot open with `> /dev/stderr`.
 */
export class StepOutput {
  /** The steps' standard output and error. */
  readonly fd: number;
  readonly #reader: Socket;
  readonly #onDrained: () => void;
  #bytesRead = 0;

  static makePipe = async (path: string): Promise<void> => {
    await promisify(execFile)("mkfifo", ["-m", "600", path]);
  };

  /** `onDrained` runs when a step's output has ended, as far as the agent can know. */
  constructor(path: string, onBytes: (bytes: Uint8Array) => void, onDrained: () => void) {
    this.#onDrained = onDrained;
    const readEnd = openSync(path, fsConstants.O_RDONLY | fsConstants.O_NONBLOCK);
    this.fd = openSync(path, fsConstants.O_WRONLY);
    this.#reader = new Socket({ fd: readEnd, readable: true, writable: false });
    this.#reader.on("data", (bytes: Buffer) => {
      this.#bytesRead += bytes.length;
      onBytes(bytes);
    });
    // Reading fails only when `close` destroys the reader.
    this.#reader.on("error", () => {});
  }

  /**
   * Resolves when the agent has read all output of ended processes, that is, when a full turn of the event loop has
   * read nothing.
   */
  async drain(): Promise<void> {
    const until = Date.now() + DRAIN_MILLISECONDS;
    for (let before = -1; before !== this.#bytesRead && Date.now() < until; ) {
      before = this.#bytesRead;
      await turn();
      await turn();
    }
    this.#onDrained();
  }

  /** Reports whether a program has set O_NONBLOCK, which then applies to all users of the pipe. Works only on Linux. */
  isNonBlocking(): boolean {
    try {
      const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${this.fd}`, "latin1"))?.[1] ?? "0";
      return (Number.parseInt(flags, 8) & fsConstants.O_NONBLOCK) !== 0;
    } catch {
      return false;
    }
  }

  close(): void {
    closeSync(this.fd);
    this.#reader.destroy();
  }
}

interface RunProcessOptions {
  argv: [program: string, ...args: string[]];
  folder: string;
  /** Log line for a folder that does not exist, or that the step's user may not enter. */
  missingMessage: string;
  env: Record<string, string>;
  /** File descriptor for standard output and error. */
  output: number;
  user: StepUser | null;
}

export interface ProcessEnd {
  /** The exit code. Signal N gives 128 + N, as in shells. */
  code: number;
  signal: NodeJS.Signals | null;
}

/**
 * Starts the step's program. The script waits until the build's process tree contains the process, enters the folder
 * with the step's rights, and then replaces itself by the program.
 */
const START_SCRIPT = `read -r _ <&3 || exit 125
exec 3<&-
cd -P -- "$1" 2> /dev/null || { printf '%s\\n' "$2"; exit 127; }
unset OLDPWD _
shift 2
exec "$@"`;

/** Runs a step as the leader of its own process group, without input. @throws when it cannot start */
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
    const gate = child.stdio[3] as Writable;
    // The process may end before it reads the line. Its exit code then explains why.
    gate.on("error", () => {});
    if (child.pid !== undefined)
      tree.add(child.pid).then(
        () => gate.end("\n"),
        (error: unknown) => {
          gate.destroy();
          reject(error);
        },
      );
    child.on("exit", (code, signal) => {
      resolve({ code: code ?? 128 + (signal ? constants.signals[signal] : 0), signal });
    });
  });
