import { withoutEnd } from "../domain/text.ts";
import { toBase64Url } from "./base64.ts";
import { ESCAPES } from "./escapes.ts";

/** The minimum length of an encoded form in bytes. Shorter forms would mask too much other text. */
const ENCODED_MIN = 8;
/** The minimum length in characters of a line that the mask replaces on its own. */
const LINE_MIN = 4;

/** `plain` forms match byte for byte. `wrapped` forms also match when line breaks cut them, as in printed base64. */
interface Forms {
  plain: Uint8Array[];
  wrapped: Uint8Array[];
}

const toBytes = (secret: string | Uint8Array): Uint8Array =>
  typeof secret === "string" ? new TextEncoder().encode(secret) : secret;

/** Returns one character per byte, so that the same rules apply to text and to binary values. */
const toBinary = (bytes: Uint8Array): string => {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return text;
};

const fromBinary = (text: string): Uint8Array => {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
};

/** Counts the UTF-8 characters in a binary string, without continuation bytes. */
const characters = (binary: string): number => binary.replace(/[\x80-\xBF]/g, "").length;

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

const hex = (binary: string): string => {
  let text = "";
  for (let at = 0; at < binary.length; at++) text += HEX[binary.charCodeAt(at)];
  return text;
};

/** Matches values that no escape changes. */
const UNESCAPED = /^[A-Za-z0-9_.-]*$/;

/**
 * Returns the base64 that every text has in common where the value follows `offset` (mod 3) other bytes. Also returns
 * the form with padding for a text that ends with the value.
 */
const base64At = (binary: string, offset: number): string[] => {
  const whole = btoa("\0".repeat(offset) + binary);
  const from = Math.ceil((offset * 8) / 6);
  const fixed = whole.slice(from, Math.floor(((offset + binary.length) * 8) / 6));
  return [fixed, whole.slice(from)];
};

/** Returns the value without quotes that were stored as part of it. */
const withoutQuotes = (text: string): string[] => {
  const inner = /^(["'])([\s\S]*)\1$/.exec(text)?.[2];
  return inner === undefined || inner.length < ENCODED_MIN ? [] : [inner];
};

const plainForms = (value: string): string[] => {
  const lines = value
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter((line) => characters(line) >= LINE_MIN);
  const core = withoutEnd(value, "\r\n");
  const escaped = UNESCAPED.test(core) ? [] : ESCAPES.flatMap((rule) => rule(core));
  const encoded = [...withoutQuotes(core), ...escaped];
  return [
    value,
    value.replace(/\r?\n/g, "\r\n"),
    ...lines,
    ...encoded.filter((form) => form.length >= ENCODED_MIN && form.trim() !== ""),
  ];
};

const wrappedForms = (value: string): string[] => {
  const core = withoutEnd(value, "\r\n");
  const digits = hex(core);
  return [0, 1, 2]
    .flatMap((offset) => base64At(core, offset))
    .concat(digits, digits.toUpperCase())
    .filter((form) => form.length >= ENCODED_MIN);
};

const distinctBytes = (texts: Iterable<string>): Uint8Array[] => [...new Set(texts)].map(fromBinary);

/** Returns the forms of all secrets, grouped by how they match. Empty secrets have no forms. */
export const groupedForms = (secrets: Iterable<string | Uint8Array>): Forms => {
  const values = [...new Set([...secrets].map((secret) => toBinary(toBytes(secret))))].filter((value) => value !== "");
  return { plain: distinctBytes(values.flatMap(plainForms)), wrapped: distinctBytes(values.flatMap(wrappedForms)) };
};

/**
 * Returns all byte forms in which a secret may appear. They are the raw value, each line with 4 characters or more, and
 * the value with CRLF in place of LF. They also include encoded forms of 8 bytes or more: base64 at all three offsets,
 * hex, and the escapes of URLs, JSON, XML and shells.
 */
export const allForms = (secrets: Iterable<string | Uint8Array>): Uint8Array[] => {
  const { plain, wrapped } = groupedForms(secrets);
  const url = wrapped.map(toBase64Url);
  return distinctBytes([...plain, ...wrapped, ...url].map(toBinary));
};
