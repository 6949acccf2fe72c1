import { execFile } from "node:child_process";
import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { promisify } from "node:util";

/** Milliseconds a step that has ended may go on to be heard through what it left running. */
const DRAIN_FOR = 1000;

/**
 * The one pipe that everything of a build writes to, so that standard output and error keep their order. A named pipe:
 * Node's own are sockets, and `> /dev/stderr` in a script cannot open a socket.
 */
export class StepOutput {
  /** Given to a step as its standard output and error. */
  readonly fd: number;
  readonly #reader: Socket;
  readonly #onDrained: () => void;
  #heard = 0;

  static makePipe = async (path: string): Promise<void> => {
    await promisify(execFile)("mkfifo", ["-m", "600", path]);
  };

  /** `onDrained` hears that a step's output is over, as far as it can be known. */
  constructor(path: string, onBytes: (bytes: Uint8Array) => void, onDrained: () => void) {
    this.#onDrained = onDrained;
    const end = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    this.fd = openSync(path, constants.O_WRONLY);
    this.#reader = new Socket({ fd: end, readable: true, writable: false });
    this.#reader.on("data", (bytes: Buffer) => {
      this.#heard += bytes.length;
      onBytes(bytes);
    });
    // Reading a pipe of our own fails only when it is taken down below.
    this.#reader.on("error", () => {});
  }

  /** Until all that ended processes have written is read: a whole turn of the event loop finds the pipe empty. */
  async drain(): Promise<void> {
    const until = Date.now() + DRAIN_FOR;
    for (let before = -1; before !== this.#heard && Date.now() < until; ) {
      before = this.#heard;
      await turn();
      await turn();
    }
    this.#onDrained();
  }

  /** Whether a program has made it so for all that share it; only Linux tells. */
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
