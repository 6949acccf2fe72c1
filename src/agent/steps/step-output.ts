import { execFile } from "node:child_process";
import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { promisify } from "node:util";

/** Milliseconds that processes which outlive their step may still write to the log before the next step. */
const DRAIN_MILLISECONDS = 1000;

/**
 * The pipe that all processes of a build write to, so that standard output and error keep their order. It is a named
 * pipe, because Node's own pipes are sockets, which `> /dev/stderr` in a script cannot open.
 */
export class StepOutput {
  /** Standard output and error of the steps. */
  readonly fd: number;
  readonly #reader: Socket;
  readonly #onDrained: () => void;
  #bytesRead = 0;

  static makePipe = async (path: string): Promise<void> => {
    await promisify(execFile)("mkfifo", ["-m", "600", path]);
  };

  /** `onDrained` is called when a step's output has ended, as far as that can be known. */
  constructor(path: string, onBytes: (bytes: Uint8Array) => void, onDrained: () => void) {
    this.#onDrained = onDrained;
    const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    this.fd = openSync(path, constants.O_WRONLY);
    this.#reader = new Socket({ fd: readEnd, readable: true, writable: false });
    this.#reader.on("data", (bytes: Buffer) => {
      this.#bytesRead += bytes.length;
      onBytes(bytes);
    });
    // Reading fails only when `close` destroys the reader.
    this.#reader.on("error", () => {});
  }

  /** Resolves when all output of ended processes is read: a full turn of the event loop has read nothing. */
  async drain(): Promise<void> {
    const until = Date.now() + DRAIN_MILLISECONDS;
    for (let before = -1; before !== this.#bytesRead && Date.now() < until; ) {
      before = this.#bytesRead;
      await turn();
      await turn();
    }
    this.#onDrained();
  }

  /** Whether a program has set O_NONBLOCK, which then holds for all that share the pipe. Known on Linux only. */
  isNonBlocking(): boolean {
    try {
      const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${this.fd}`, "latin1"))?.[1] ?? "0";
      return (Number.parseInt(flags, 8) & constants.O_NONBLOCK) !== 0;
    } catch {
      return false;
    }
  }

  close(): void {
    closeSync(this.fd);
    this.#reader.destroy();
  }
}
