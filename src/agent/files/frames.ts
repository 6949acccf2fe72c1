/*
 * What the agent and its file helper say to each other over two pipes: frames of a kind (one byte), a length (four
 * bytes, the highest first) and so many bytes. A note is JSON; data is a piece of a file.
 */

export const NOTE = 1;
export const DATA = 2;
const HEAD_BYTES = 5;
/** A frame is read into memory as a whole. */
const FRAME_LIMIT = 16 * 1024 * 1024;
/** Bytes of one piece of a file. */
export const PIECE_BYTES = 256 * 1024;

export interface Frame {
  kind: number;
  bytes: Buffer;
}

export const headOf = (kind: number, length: number): Buffer => {
  const head = Buffer.alloc(HEAD_BYTES);
  head[0] = kind;
  head.writeUInt32BE(length, 1);
  return head;
};

export const noteFrame = (note: unknown): Buffer => {
  const text = Buffer.from(JSON.stringify(note));
  return Buffer.concat([headOf(NOTE, text.length), text]);
};

/** Puts frames together from the pieces of a stream. */
export class FrameParser {
  #pieces: Buffer[] = [];
  #length = 0;

  push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  /** The next whole frame; null until more has come. @throws for what is none */
  next(): Frame | null {
    if (this.#length < HEAD_BYTES) return null;
    if ((this.#pieces[0]?.length ?? 0) < HEAD_BYTES) this.#pieces = [Buffer.concat(this.#pieces)];
    const head = this.#pieces[0]!;
    const [kind, length] = [head[0]!, head.readUInt32BE(1)];
    if ((kind !== NOTE && kind !== DATA) || length > FRAME_LIMIT) throw new Error("this is no frame");
    if (this.#length < HEAD_BYTES + length) return null;
    const whole = this.#pieces.length === 1 ? head : Buffer.concat(this.#pieces);
    const rest = whole.subarray(HEAD_BYTES + length);
    this.#pieces = rest.length > 0 ? [rest] : [];
    this.#length = rest.length;
    return { kind, bytes: whole.subarray(HEAD_BYTES, HEAD_BYTES + length) };
  }
}
