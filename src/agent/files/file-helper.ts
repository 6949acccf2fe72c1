import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { basename, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { StepUser } from "../process/step-user.ts";
import {
  DATA,
  type FoundFile,
  type Frame,
  FrameParser,
  frameHead,
  HelperNote,
  type HelperRequest,
  noteFrame,
  PIECE_BYTES,
} from "./helper-protocol.ts";
import type { ArrivingFile } from "./receive-files.ts";

/** A build's files violate a rule. The message is for the build's author. */
export class FileProblem extends Error {}

/**
 * Returns the path of this program: the bundle, or the module that serves files when the agent runs from its sources.
 */
const programPath = (): string => {
  const own = fileURLToPath(import.meta.url);
  return basename(own) === "file-helper.ts" ? join(own, "../main.ts") : own;
};

/** The place of files, and the user whose rights apply. */
export interface FilePlace {
  root: string;
  user: StepUser | null;
  /** When aborted, ends the work with its reason. */
  signal: AbortSignal;
}

/** An active file helper: a process that reads or writes files with the rights of the steps' user. */
class FileHelper {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #signal: AbortSignal;
  readonly #parser = new FrameParser();
  readonly #output: AsyncIterator<Buffer>;
  readonly #onAbort = (): void => void this.#child.kill("SIGKILL");

  constructor({ user, signal }: Omit<FilePlace, "root">, request: HelperRequest) {
    signal.throwIfAborted();
    const as = user ? [String(user.uid), String(user.gid)] : [];
    this.#child = spawn(process.execPath, [programPath(), "files", ...as], {
      cwd: "/",
      // io_uring calls would keep the process's initial rights (CVE-2024-22017).
      env: { UV_USE_IO_URING: "0", LC_ALL: "C" },
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#signal = signal;
    this.#child.on("error", () => {});
    this.#child.stdin.on("error", () => {});
    signal.addEventListener("abort", this.#onAbort, { once: true });
    this.#output = this.#child.stdout[Symbol.asyncIterator]();
    this.#child.stdin.write(noteFrame(request));
  }

  tell(note: unknown): Promise<void> {
    return this.#write(noteFrame(note));
  }

  async data(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      this.#child.stdin.write(frameHead(DATA, piece.length));
      await this.#write(piece);
    }
  }

  /**
   * Returns the next frame. @throws FileProblem with the helper's message, or when the helper ended without a message
   */
  async next(): Promise<{ note: HelperNote } | { data: Buffer }> {
    const frame = await this.#frame();
    this.#signal.throwIfAborted();
    if (frame === null) throw new FileProblem("the agent's file helper was stopped, or could not start");
    if (frame.kind === DATA) return { data: frame.bytes };
    const note = HelperNote.parse(JSON.parse(frame.bytes.toString()));
    if ("problem" in note) throw new FileProblem(note.problem);
    return { note };
  }

  /** Ends the process in any state. */
  async close(): Promise<void> {
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#child.stdin.destroy();
    this.#child.stdout.destroy();
    if (this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }

  async #frame(): Promise<Frame | null> {
    for (;;) {
      const frame = this.#parser.next();
      if (frame) return frame;
      const { done, value } = await this.#output.next().catch(() => ({ done: true, value: undefined }));
      if (done || value === undefined) return null;
      this.#parser.push(value);
    }
  }

  async #write(bytes: Buffer): Promise<void> {
    const { stdin } = this.#child;
    await new Promise<void>((resolve) => {
      const isRoom = stdin.write(bytes, () => resolve());
      if (isRoom) resolve();
    });
    if (!stdin.destroyed) return;
    // The helper has ended. It may have sent the reason before.
    await this.next();
    throw new FileProblem("the agent's file helper sent an unexpected answer");
  }
}

/** The files found in a folder. */
export interface CollectedFiles {
  files: FoundFile[];
  /** The omitted files with reasons, one a line. */
  leftOut: string[];
  /** Yields the bytes of all files in sequence. Works only once. @throws FileProblem when a file has changed */
  bytes(): AsyncGenerator<Buffer>;
}

export interface FilesToCollect {
  paths: string[];
  /** Stores all files as one tar with this name. */
  asTar: string | null;
  /** Maximum number of files. */
  atMost: number;
  /** Omits unreadable files, even if the paths include them. */
  isLenient?: boolean;
  /** Names are whole paths, and the helper keeps links that lead outside. */
  isCache?: boolean;
}

/** Finds a build's files, and lets `use` read them. @throws FileProblem */
export const collectFiles = async <T>(
  { root, ...place }: FilePlace,
  request: FilesToCollect,
  use: (collected: CollectedFiles) => Promise<T>,
): Promise<T> => {
  const helper = new FileHelper(place, { op: "collect", root, ...request });
  try {
    const first = await helper.next();
    if (!("note" in first) || !("found" in first.note))
      throw new FileProblem("the agent's file helper sent an unexpected answer");
    const { found: files, leftOut } = first.note;
    return await use({ files, leftOut, bytes: () => bytesOf(helper, files) });
  } finally {
    await helper.close();
  }
};

async function* bytesOf(helper: FileHelper, files: readonly FoundFile[]): AsyncGenerator<Buffer> {
  await helper.tell({ send: true });
  let bytesLeft = files.reduce((sum, { size }) => sum + size, 0);
  for (;;) {
    const next = await helper.next();
    if ("note" in next) break;
    bytesLeft -= next.data.length;
    if (bytesLeft < 0) break;
    yield next.data;
  }
  if (bytesLeft !== 0) throw new FileProblem("the agent's file helper sent an unexpected answer");
}

/** Writes files in sequence. */
export interface FileWriter {
  begin(file: ArrivingFile): Promise<void>;
  write(bytes: Buffer): Promise<void>;
}

/**
 * Lets `use` create files in a folder below `root`. `replaces` says whether to replace existing files. `cachePaths` are
 * a cache's paths.
 * @throws FileProblem
 */
export const receiveFiles = async (
  { root, ...place }: FilePlace,
  how: { folder: string[]; replaces: boolean; cachePaths?: string[] },
  use: (writer: FileWriter) => Promise<void>,
): Promise<void> => {
  const helper = new FileHelper(place, { op: "receive", root, ...how });
  try {
    await use({ begin: (file) => helper.tell({ file }), write: (bytes) => helper.data(bytes) });
    await helper.tell({ close: true });
    await helper.next();
  } finally {
    await helper.close();
  }
};
