import { MIB } from "../../protocol/units.ts";
import { type Ignored, ignored } from "./arrival.ts";

/** The maximum depth. Hosts nest at most ten levels. */
const DEPTH = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** A range of bytes, from the first byte of a value to the byte after its last. */
type ByteSpan = readonly [from: number, to: number];

/** Returns the position of the closing quote, or -1. */
const endOfString = (bytes: Uint8Array, start: number): number => {
  for (let end = bytes.indexOf(QUOTE, start + 1); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return -1;
};

/** Reports whether the string is a key of this name, in any spelling. Decodes as few strings as possible. */
const isKey = (bytes: Uint8Array, start: number, end: number, name: string): boolean => {
  const length = end - start - 1;
  if (length < name.length) return false;
  let after = end + 1;
  while (isSpace(bytes[after])) after++;
  if (bytes[after] !== COLON) return false;
  const raw = bytes.subarray(start, end + 1);
  if (length > name.length && !raw.includes(BACKSLASH)) return false;
  try {
    return JSON.parse(new TextDecoder().decode(raw)) === name;
  } catch {
    return false;
  }
};

/**
 * Scans the bytes of a JSON object without creating values. Returns the places of the object's own `commits` lists, or
 * why to reject the object. Does not find syntax errors.
 */
const scanObject = (bytes: Uint8Array): { commits: ByteSpan[] } | { problem: string } => {
  const commits: ByteSpan[] = [];
  let depth = 0;
  let isCommits = false;
  let from = -1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = endOfString(bytes, at);
      if (end < 0) return { problem: "The body is not JSON." };
      if (isKey(bytes, at, end, "__proto__"))
        return { problem: "The body has a field with a name that is not allowed." };
      if (depth === 1) isCommits = isKey(bytes, at, end, "commits");
      at = end;
    } else if (byte === 0x7b || byte === 0x5b) {
      if (isCommits && depth === 1) from = at;
      if (++depth > DEPTH) return { problem: `The body is nested deeper than ${DEPTH} levels.` };
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--;
      if (from >= 0 && depth === 1) {
        commits.push([from, at + 1]);
        from = -1;
      }
    }
  }
  return { commits };
};

/**
 * Maximum bytes of a body that is read in full. A larger body is read without its commits, which would fill the
 * isolate's memory.
 */
const WHOLE_BYTES = MIB;
/** The most bytes that are parsed into values. */
const READ_BYTES = 4 * MIB;

const NULL = new TextEncoder().encode("null");

/** The fields of a body that is a JSON object. The sender chose the names, so read the fields with a schema. */
export type Fields = Record<string, unknown>;

/**
 * The result of parsing a body. A problem means bytes that no host sends. A reason means a correct delivery that the
 * service does not read.
 */
export type ParsedBody = { fields: Fields } | { problem: string } | Ignored;

/** Replaces each span of the bytes with null. */
const without = (bytes: Uint8Array, spans: ByteSpan[]): Uint8Array => {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const [from, to] of spans) {
    parts.push(bytes.subarray(at, from), NULL);
    at = to;
  }
  parts.push(bytes.subarray(at));
  const result = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    result.set(part, offset);
    offset += part.length;
  }
  return result;
};

const decode = (bytes: Uint8Array): string | null => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return null;
  }
};

const parse = (text: string): ParsedBody => {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? { fields: value as Fields } : { problem: "The body is not a JSON object." };
  } catch {
    return { problem: "The body is not JSON." };
  }
};

/** Reads the fields of a body of any size. Above `wholeBytes`, the object's own `commits` is null. */
export const readBody = (bytes: Uint8Array, wholeBytes: number = WHOLE_BYTES): ParsedBody => {
  const scanned = scanObject(bytes);
  if ("problem" in scanned) return scanned;
  const content = bytes.length > wholeBytes ? without(bytes, scanned.commits) : bytes;
  if (content.length > READ_BYTES)
    return ignored("The delivery has more than 4 MiB, not counting its list of commits.");
  const text = decode(content);
  return text === null ? { problem: "The body is not UTF-8." } : parse(text);
};
