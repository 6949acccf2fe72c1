import type { Scalar } from "yaml";

/** Characters an escape in a double-quoted scalar takes. */
const escapeLength = (source: string, at: number): number => ({ x: 4, u: 6, U: 10 })[source[at + 1] ?? ""] ?? 2;

const literal = (source: string, start: number, value: string, index: number): number => {
  const before = value.slice(0, index).split("\n");
  let line = source.indexOf("\n", start) + 1;
  for (let count = 1; count < before.length; count++) line = source.indexOf("\n", line) + 1;
  const written = source.slice(line).match(/^[^\r\n]*/)![0];
  const read = value.split("\n")[before.length - 1]!;
  return line + Math.max(0, written.length - read.length) + before.at(-1)!.length;
};

/**
 * Where in the source the character at `index` of a scalar's value stands. A literal block is exact line by line;
 * in what is quoted or folded, escapes and line breaks are stepped over.
 */
export const sourceOffset = (source: string, node: Scalar, index: number): number => {
  const start = node.range?.[0] ?? 0;
  const value = String(node.source ?? node.value);
  if (node.type === "BLOCK_LITERAL") return literal(source, start, value, index);
  let at = start;
  if (node.type === "BLOCK_FOLDED") at = source.indexOf("\n", start) + 1;
  if (node.type === "QUOTE_DOUBLE" || node.type === "QUOTE_SINGLE") at = start + 1;
  for (let read = 0; ; read++) {
    const wanted = value[read];
    while (/\s/.test(source[at] ?? "") && source[at] !== wanted && !/\s/.test(wanted ?? "")) at++;
    if (read >= index) return at;
    if (node.type === "QUOTE_DOUBLE" && source[at] === "\\") at += escapeLength(source, at);
    else if (node.type === "QUOTE_SINGLE" && wanted === "'") at += 2;
    else if (source[at] === wanted && wanted !== "\n") at++;
    else while (/\s/.test(source[at] ?? "")) at++;
  }
};
