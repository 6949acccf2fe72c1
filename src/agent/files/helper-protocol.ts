import * as z from "zod/mini";
import { KIB, MIB } from "../../protocol/units.ts";

/*
 * The agent's first note to its file helper is a request. Each helper serves one.
 *   collect   The helper sends the list `found`, and waits for the note `send`. Then it sends the bytes of all
 *             found files as data, one file after the other, and the note `done`.
 *   receive   Each file is a note `file`, then its bytes as data. After the note `close` the helper sends `done`.
 * After an error the helper sends `problem`, and ends.
 */

const File = z.object({ path: z.string(), size: z.int(), mode: z.enum(["644", "755"]), isUnpacked: z.boolean() });

export const HelperRequest = z.discriminatedUnion("op", [
  z.object({
    op: z.literal("collect"),
    root: z.string(),
    paths: z.array(z.string()),
    /** The name of the only tar; null to keep files one by one. */
    asTar: z.nullable(z.string()),
    atMost: z.int(),
    /** Omits unreadable files, even if the paths include them. Sends zeros for the rest of a changed file. */
    isLenient: z.optional(z.boolean()),
    /** Names are paths below the root, and links may lead outside. */
    isCache: z.optional(z.boolean()),
  }),
  z.object({
    op: z.literal("receive"),
    root: z.string(),
    folder: z.array(z.string()),
    replaces: z.boolean(),
    /**
     * A cache's paths. With them, files keep their times, links may lead outside, and the helper creates only these
     * paths.
     */
    cachePaths: z.optional(z.array(z.string())),
  }),
]);
export type HelperRequest = z.infer<typeof HelperRequest>;

export const AgentNote = z.union([
  z.object({ send: z.literal(true) }),
  z.object({ file: File }),
  z.object({ close: z.literal(true) }),
]);

/** A found file. The helper sends `size` bytes for it. */
export const FoundFile = z.object({ path: z.string(), size: z.int().check(z.nonnegative()), mode: File.shape.mode });
export type FoundFile = z.infer<typeof FoundFile>;

export const HelperNote = z.union([
  z.object({ found: z.array(FoundFile), leftOut: z.array(z.string()) }),
  z.object({ done: z.literal(true) }),
  z.object({ problem: z.string() }),
]);
export type HelperNote = z.infer<typeof HelperNote>;

/*
 * The agent and its file helper exchange frames over two pipes. A frame is a kind (one byte), a length (four bytes,
 * big-endian) and that number of bytes. A note is JSON; data is a piece of a file.
 */

export const NOTE = 1;
export const DATA = 2;
const HEAD_BYTES = 5;
/** Maximum bytes of a frame. The parser reads each frame into memory as a whole. */
const FRAME_LIMIT = 16 * MIB;
/** Bytes in one piece of a file. */
export const PIECE_BYTES = 256 * KIB;

export interface Frame {
  kind: number;
  bytes: Buffer;
}

export const frameHead = (kind: number, length: number): Buffer => {
  const head = Buffer.alloc(HEAD_BYTES);
  head[0] = kind;
  head.writeUInt32BE(length, 1);
  return head;
};

export const noteFrame = (note: unknown): Buffer => {
  const text = Buffer.from(JSON.stringify(note));
  return Buffer.concat([frameHead(NOTE, text.length), text]);
};

/** Assembles frames from a stream's pieces. */
export class FrameParser {
  #pieces: Buffer[] = [];
  #length = 0;

  push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  /** Returns the next complete frame; null until more bytes arrive. @throws where the bytes are not a frame */
  next(): Frame | null {
    if (this.#length < HEAD_BYTES) return null;
    if ((this.#pieces[0]?.length ?? 0) < HEAD_BYTES) this.#pieces = [Buffer.concat(this.#pieces)];
    const head = this.#pieces[0]!;
    const [kind, length] = [head[0]!, head.readUInt32BE(1)];
    if ((kind !== NOTE && kind !== DATA) || length > FRAME_LIMIT) throw new Error("invalid frame");
    if (this.#length < HEAD_BYTES + length) return null;
    const whole = this.#pieces.length === 1 ? head : Buffer.concat(this.#pieces);
    const rest = whole.subarray(HEAD_BYTES + length);
    this.#pieces = rest.length > 0 ? [rest] : [];
    this.#length = rest.length;
    return { kind, bytes: whole.subarray(HEAD_BYTES, HEAD_BYTES + length) };
  }
}
