import { withoutEnd } from "../../domain/text.ts";
import { KIB } from "../../protocol/units.ts";

/*
 * Tar in the format of POSIX 1003.1-2001 (pax). It has blocks of 512 bytes and a header for each member. An extra
 * header precedes it for a path, link or size that does not fit.
 */

const BLOCK = 512;
const NAME_BYTES = 100;
const LARGEST_OCTAL_SIZE = 0o77777777777;

export interface TarMember {
  kind: "file" | "folder" | "link";
  path: string;
  mode: number;
  /** A file's bytes; 0 for other members. */
  size: number;
  /** Modification time in seconds. */
  mtime: number;
  /** The link's text. */
  link: string;
}

const TYPE_FLAGS = { file: "0", folder: "5", link: "2" } as const;

export const tarPadding = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, "0")}\0`;

const header = (type: string, path: string, { mode, size, mtime, link }: Omit<TarMember, "path" | "kind">): Buffer => {
  const block = Buffer.alloc(BLOCK);
  block.write(path, 0, NAME_BYTES);
  block.write(octal(mode & 0o777, 7), 100, "latin1");
  block.write(octal(0, 7), 108, "latin1");
  block.write(octal(0, 7), 116, "latin1");
  block.write(octal(Math.min(size, LARGEST_OCTAL_SIZE), 11), 124, "latin1");
  block.write(octal(Math.max(0, Math.min(mtime, LARGEST_OCTAL_SIZE)), 11), 136, "latin1");
  block.write(type, 156, "latin1");
  block.write(link, 157, NAME_BYTES);
  block.write("ustar\0" + "00", 257, "latin1");
  block.write(octal(tarChecksum(block), 6), 148, "latin1");
  block[155] = 0x20;
  return block;
};

/** Returns the sum of all bytes, with spaces in place of the sum itself. */
const tarChecksum = (block: Buffer): number =>
  block.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 0x20 : byte), 0);

/** Formats `LENGTH KEY=VALUE\n`, where the length includes its own digits. */
const paxRecord = (key: string, value: string): Buffer => {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (rest + String(length).length !== length) length = rest + String(length).length;
  return Buffer.from(`${length} ${key}=${value}\n`);
};

/** Returns the blocks before a member's content. */
export const tarHeader = (member: TarMember): Buffer => {
  const path = member.kind === "folder" ? `${member.path}/` : member.path;
  const records = [
    ...(Buffer.byteLength(path) > NAME_BYTES ? [paxRecord("path", path)] : []),
    ...(Buffer.byteLength(member.link) > NAME_BYTES ? [paxRecord("linkpath", member.link)] : []),
    ...(member.size > LARGEST_OCTAL_SIZE ? [paxRecord("size", String(member.size))] : []),
  ];
  const own = header(TYPE_FLAGS[member.kind], path, member);
  if (records.length === 0) return own;
  const text = Buffer.concat(records);
  const more = header("x", "pax", { mode: 0o644, size: text.length, mtime: 0, link: "" });
  return Buffer.concat([more, text, Buffer.alloc(tarPadding(text.length)), own]);
};

/** The end of a tar: two empty blocks. */
export const TAR_END = Buffer.alloc(2 * BLOCK);

export const tarBytes = (members: readonly TarMember[]): number =>
  members.reduce((sum, one) => sum + tarHeader(one).length + one.size + tarPadding(one.size), TAR_END.length);

/** Receives a tar's members in order. Each file's content arrives in pieces. */
export interface TarListener {
  begin(member: TarMember): void;
  content(bytes: Buffer): void;
  end(): void;
}

const PAX_LIMIT = 64 * KIB;
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
    throw new Error("the tar has a name that is not UTF-8");
  }
};

const readNumber = (block: Buffer, start: number, length: number): number => {
  const text = readText(block, start, length).trim();
  if (!/^[0-7]{1,12}$/.test(text)) throw new Error("the tar has an invalid header");
  return Number.parseInt(text, 8);
};

const KINDS: Record<string, TarMember["kind"] | "pax"> = {
  "0": "file",
  "\0": "file",
  "5": "folder",
  "2": "link",
  x: "pax",
};

/** Parses a sequence of `LENGTH KEY=VALUE\n`. */
const paxRecords = (bytes: Buffer): Map<string, string> => {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = Number(bytes.toString("latin1", at, space));
    const record = bytes.subarray(space + 1, at + length - 1);
    const equals = record.indexOf(0x3d);
    if (space < 0 || !Number.isSafeInteger(length) || at + length > bytes.length || length < 5 || equals < 1)
      throw new Error("the tar has an invalid header");
    records.set(decoded(record.subarray(0, equals)), decoded(record.subarray(equals + 1)));
    at += length;
  }
  return records;
};

/**
 * Reads a tar from pieces. Accepts only files, folders and symbolic links. Rejects devices, hard links, sparse files
 * and other programs' extensions.
 */
export class TarReader {
  readonly #listener: TarListener;
  #unread: Buffer = Buffer.alloc(0);
  /** Remaining bytes of content and of the padding after it. */
  #bytesLeft = 0;
  #padding = 0;
  #pax: Map<string, string> | null = null;
  #paxBytes = 0;
  #isOver = false;
  #isInFile = false;
  #members = 0;

  constructor(listener: TarListener) {
    this.#listener = listener;
  }

  /** Parses a piece. @throws for a forbidden member */
  push(piece: Buffer): void {
    let rest = this.#unread.length > 0 ? Buffer.concat([this.#unread, piece]) : piece;
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
    this.#unread = Buffer.from(rest);
  }

  /** Ends the input. @throws when the tar is incomplete */
  close(): void {
    if (!this.#isOver) throw new Error("the tar is cut off");
  }

  #pass(bytes: Buffer): Buffer {
    const content = bytes.subarray(0, this.#bytesLeft);
    if (content.length > 0) this.#listener.content(content);
    this.#bytesLeft -= content.length;
    if (this.#bytesLeft === 0) {
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
    if (readNumber(block, 148, 8) !== tarChecksum(block)) throw new Error("the tar has a header with a wrong checksum");
    if (++this.#members > MEMBERS) throw new Error(`the tar has more than ${MEMBERS} members`);
    const kind = KINDS[readText(block, 156, 1) || "\0"];
    if (kind === undefined) throw new Error("the tar has something other than files, folders and links");
    const size = readNumber(block, 124, 12);
    if (kind === "pax") {
      if (size === 0 || size > PAX_LIMIT || this.#pax) throw new Error("the tar has an invalid header");
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
      throw new Error("the tar has an invalid header");
    this.#listener.begin({
      kind,
      path: withoutEnd(path.replace(/^(?:\.\/)+/, ""), "/"),
      mode: readNumber(block, 100, 8) & 0o777,
      size,
      mtime: readNumber(block, 136, 12),
      link: pax.get("linkpath") ?? readText(block, 157, 100),
    });
    this.#padding = tarPadding(size);
    this.#bytesLeft = size;
    this.#isInFile = size > 0;
    if (size === 0) this.#listener.end();
  }
}
