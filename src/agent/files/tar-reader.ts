import { withoutEnd } from "../../domain/text.ts";
import { BLOCK, type TarMember, tarChecksum, tarPadding } from "./tar-format.ts";

/** Receives the members of a tar in their order; the content of each file comes in pieces. */
export interface TarListener {
  begin(member: TarMember): void;
  content(bytes: Buffer): void;
  end(): void;
}

const PAX_LIMIT = 64 * 1024;
const MEMBERS = 200_000;

const readText = (block: Buffer, start: number, length: number): string => {
  const field = block.subarray(start, start + length);
  const end = field.indexOf(0);
  return decoded(end < 0 ? field : field.subarray(0, end));
};

const decoded = (bytes: Buffer): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error("the tar has a name that is no UTF-8");
  }
};

const readNumber = (block: Buffer, start: number, length: number): number => {
  const text = readText(block, start, length).trim();
  if (!/^[0-7]{1,12}$/.test(text)) throw new Error("the tar has a header with a mistake");
  return Number.parseInt(text, 8);
};

const KINDS: Record<string, TarMember["kind"] | "pax"> = {
  "0": "file",
  "\0": "file",
  "5": "folder",
  "2": "link",
  x: "pax",
};

/** `LENGTH KEY=VALUE\n`, one after the other. */
const paxRecords = (bytes: Buffer): Map<string, string> => {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = Number(bytes.toString("latin1", at, space));
    const record = bytes.subarray(space + 1, at + length - 1);
    const equals = record.indexOf(0x3d);
    if (space < 0 || !Number.isSafeInteger(length) || at + length > bytes.length || length < 5 || equals < 1)
      throw new Error("the tar has a header with a mistake");
    records.set(decoded(record.subarray(0, equals)), decoded(record.subarray(equals + 1)));
    at += length;
  }
  return records;
};

/**
 * Reads a tar from its pieces: files, folders and symbolic links, and nothing else. Devices, hard links, sparse files
 * and what other programs add are refused.
 */
export class TarReader {
  readonly #listener: TarListener;
  #held: Buffer = Buffer.alloc(0);
  /** Bytes of content, and of padding after it, that are still to come. */
  #left = 0;
  #padding = 0;
  #pax: Map<string, string> | null = null;
  #paxBytes = 0;
  #isOver = false;
  #isInFile = false;
  #members = 0;

  constructor(listener: TarListener) {
    this.#listener = listener;
  }

  /** @throws for what is not allowed */
  push(piece: Buffer): void {
    let rest = this.#held.length > 0 ? Buffer.concat([this.#held, piece]) : piece;
    for (;;) {
      if (this.#isOver) rest = rest.subarray(rest.length);
      if (this.#isInFile) rest = this.#pass(rest);
      const skipped = Math.min(this.#isInFile ? 0 : this.#padding, rest.length);
      this.#padding -= skipped;
      rest = rest.subarray(skipped);
      const needed = this.#paxBytes > 0 ? this.#paxBytes + tarPadding(this.#paxBytes) : BLOCK;
      if (this.#isInFile || this.#padding > 0 || rest.length < needed) break;
      if (this.#paxBytes > 0) this.#readPax(rest);
      else this.#header(rest.subarray(0, BLOCK));
      rest = rest.subarray(needed);
    }
    this.#held = Buffer.from(rest);
  }

  /** @throws when the tar has not ended */
  close(): void {
    if (!this.#isOver) throw new Error("the tar ends too early");
  }

  #pass(bytes: Buffer): Buffer {
    const content = bytes.subarray(0, this.#left);
    if (content.length > 0) this.#listener.content(content);
    this.#left -= content.length;
    if (this.#left === 0) {
      this.#isInFile = false;
      this.#listener.end();
    }
    return bytes.subarray(content.length);
  }

  #readPax(bytes: Buffer): void {
    this.#pax = paxRecords(bytes.subarray(0, this.#paxBytes));
    this.#paxBytes = 0;
  }

  #header(block: Buffer): void {
    if (block.every((byte) => byte === 0)) {
      this.#isOver = true;
      return;
    }
    if (readNumber(block, 148, 8) !== tarChecksum(block)) throw new Error("the tar has a header with a wrong sum");
    if (++this.#members > MEMBERS) throw new Error(`the tar has more than ${MEMBERS} members`);
    const kind = KINDS[readText(block, 156, 1) || "\0"];
    if (kind === undefined) throw new Error("the tar has something other than files, folders and links");
    const size = readNumber(block, 124, 12);
    if (kind === "pax") {
      if (size === 0 || size > PAX_LIMIT || this.#pax) throw new Error("the tar has a header with a mistake");
      this.#paxBytes = size;
      return;
    }
    this.#begin(kind, block, size);
  }

  #begin(kind: TarMember["kind"], block: Buffer, headerSize: number): void {
    const pax = this.#pax ?? new Map<string, string>();
    this.#pax = null;
    const prefix = readText(block, 257, 5) === "ustar" ? readText(block, 345, 155) : "";
    const path = pax.get("path") ?? [prefix, readText(block, 0, 100)].filter((part) => part !== "").join("/");
    const size = Number(pax.get("size") ?? headerSize);
    if (!Number.isSafeInteger(size) || size < 0 || (kind !== "file" && size > 0))
      throw new Error("the tar has a header with a mistake");
    this.#listener.begin({
      kind,
      path: withoutEnd(path.replace(/^(?:\.\/)+/, ""), "/"),
      mode: readNumber(block, 100, 8) & 0o777,
      size,
      mtime: readNumber(block, 136, 12),
      link: pax.get("linkpath") ?? readText(block, 157, 100),
    });
    this.#padding = tarPadding(size);
    this.#left = size;
    this.#isInFile = size > 0;
    if (size === 0) this.#listener.end();
  }
}
