import { type Ignored, ignored } from "./arrival.ts";
import { type ByteSpan, scanObject } from "./scan.ts";

/** Up to here a body is read whole; above it, without its commits: as values they would fill the isolate's memory. */
const WHOLE_BYTES = 1024 * 1024;
/** What is made into values at most. */
const READ_BYTES = 4 * 1024 * 1024;

const NULL = new TextEncoder().encode("null");

/** The fields of a body that is a JSON object. Names are the sender's: read them by a schema. */
export type Fields = Record<string, unknown>;

/** A problem is of bytes that no host sends; a reason, of a delivery that is right and yet not read. */
export type ParsedBody = { fields: Fields } | { problem: string } | Ignored;

/** The bytes with null in the place of each span. */
const without = (bytes: Uint8Array, spans: ByteSpan[]): Uint8Array => {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const [from, to] of spans) {
    parts.push(bytes.subarray(at, from), NULL);
    at = to;
  }
  parts.push(bytes.subarray(at));
  const kept = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    kept.set(part, offset);
    offset += part.length;
  }
  return kept;
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

/** The fields of a body of any size: above `wholeBytes`, the object's own `commits` is null. */
export const readBody = (bytes: Uint8Array, wholeBytes: number = WHOLE_BYTES): ParsedBody => {
  const scanned = scanObject(bytes);
  if ("problem" in scanned) return scanned;
  const kept = bytes.length > wholeBytes ? without(bytes, scanned.commits) : bytes;
  if (kept.length > READ_BYTES) return ignored("The delivery has more than 4 MiB beside its list of commits.");
  const text = decode(kept);
  return text === null ? { problem: "The body is not UTF-8." } : parse(text);
};
