import type { HandedFile } from "../protocol/variable.ts";

const GROUPS = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Joins the lines of a text, because programs break base64 into lines. */
const inOneLine = (text: string): string => text.replaceAll(/[ \t\r\n]/g, "");

/** Reports whether the text is base64 (RFC 4648, section 4) with its padding, in any number of lines. */
export const isBase64 = (text: string): boolean => GROUPS.test(inOneLine(text));

/**
 * Returns the bytes of a file. @throws Error if the text is not in that encoding. The error quotes nothing from the
 * text.
 */
export const bytesOfFile = ({ encoding, text }: Pick<HandedFile, "encoding" | "text">): Uint8Array => {
  if (encoding === "text") return new TextEncoder().encode(text);
  if (!isBase64(text)) throw new Error("it is not base64");
  return Uint8Array.from(atob(inOneLine(text)), (character) => character.charCodeAt(0));
};

const COMMON = new Set([
  "true",
  "false",
  "null",
  "none",
  "yes",
  "no",
  "test",
  "admin",
  "root",
  "password",
  "secret",
  "main",
  "production",
  "staging",
  "development",
  "localhost",
]);

type SecretWarning = "short" | "mask-text" | "common-word" | "json";

/**
 * Reports whether a value is a JSON object or array. A program extracts single values from such a secret, but a mask
 * knows only the whole text and its lines.
 */
const isJson = (value: string): boolean => {
  if (!/^\s*[[{]/.test(value)) return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
};

/** Returns warnings about a secret whose mask would hide other text in logs, reveal the secret, or miss parts of it. */
export const secretWarnings = (value: string): SecretWarning[] => [
  ...(value.length < 4 ? (["short"] as const) : []),
  ...(/^\*+$/.test(value) ? (["mask-text"] as const) : []),
  ...(COMMON.has(value.toLowerCase()) ? (["common-word"] as const) : []),
  ...(isJson(value) ? (["json"] as const) : []),
];
