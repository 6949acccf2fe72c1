import { type LogLine, partFrom } from "../../domain/failure/error-lines.ts";
import { plainText } from "../../domain/text.ts";
import type { Step } from "../../protocol/build.ts";
import { settledLine } from "../../protocol/settled-line.ts";
import { KIB } from "../../protocol/units.ts";
import type { Context } from "../core/context.ts";
import { nullIfNotFound } from "../core/refusal.ts";
import type { Logged } from "./build-jobs.ts";
import { readFound } from "./logs.ts";

/** The number of bytes that a page shows if scripts are off. */
const TAIL_BYTES = 16 * KIB;

/** The bytes of a part of a log. The first byte is at `start`. */
export interface LogPart {
  start: number;
  bytes: Uint8Array;
}

/** Reads a part of a log; returns null if the log was deleted. */
const readLogPart = async (
  context: Context,
  log: Logged,
  part: { suffix: number } | { start: number; end: number },
): Promise<LogPart | null> => {
  const logPart = await nullIfNotFound(readFound(context, log, part));
  return logPart && { start: logPart.start, bytes: new Uint8Array(await new Response(logPart.body).arrayBuffer()) };
};

/** Reads the end of a log for a page. @param bytes the bytes that the caller needs in addition to the shown bytes */
export const readLogEnd = (context: Context, log: Logged, bytes = 0): Promise<LogPart | null> =>
  readLogPart(context, log, { suffix: Math.max(TAIL_BYTES, bytes) });

/** Returns the last lines as plain text, without a partial first line; null for a deleted log. */
export const toTail = (end: LogPart | null): string | null => {
  if (end === null) return null;
  const cut = Math.max(0, end.bytes.length - TAIL_BYTES);
  const text = new TextDecoder().decode(end.bytes.subarray(cut));
  const whole = cut + end.start > 0 ? text.slice(text.indexOf("\n") + 1) : text;
  return plainText(whole.split("\n").map(settledLine).join("\n"));
};

/** The number of bytes to read at the end of a step's output. */
export const OUTPUT_BYTES = 64 * KIB;
const NEWLINE = 10;

/** Splits bytes into lines, without a partial first line. */
const splitLines = ({ bytes, start }: LogPart, begin: number, end: number): LogLine[] => {
  const lines: LogLine[] = [];
  const decoder = new TextDecoder();
  let from = Math.max(0, begin - start);
  if (start > begin && start > 0) from = bytes.indexOf(NEWLINE) + 1;
  const last = Math.min(bytes.length, end - start);
  while (from < last) {
    const newline = bytes.indexOf(NEWLINE, from);
    const to = newline === -1 || newline >= last ? last : newline;
    lines.push({ offset: start + from, text: decoder.decode(bytes.subarray(from, to)) });
    from = to + 1;
  }
  return lines;
};

/**
 * Returns the last lines of the step that begins at this byte of the log. `end` is the log's end, if the caller has
 * already read it. The end contains these lines unless later steps wrote more than the end holds. Then the function
 * reads one range of the log, however long the log is.
 */
export const readOutput = async (
  context: Context,
  log: Logged,
  steps: Step[],
  begin: number,
  end: LogPart | null,
): Promise<LogLine[]> => {
  const part = partFrom(steps, begin);
  const to = part.end ?? Number.POSITIVE_INFINITY;
  const has = end && (end.start <= begin || (part.end === null && end.bytes.length > 0));
  if (has) return splitLines(end, begin, to);
  const range =
    part.end === null ? { suffix: OUTPUT_BYTES } : { start: Math.max(begin, part.end - OUTPUT_BYTES), end: part.end };
  const read = await readLogPart(context, log, range);
  return read ? splitLines(read, begin, to) : [];
};
