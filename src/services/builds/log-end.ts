import { plainText } from "../../domain/plain-text.ts";
import { settledLine } from "../../protocol/settled-line.ts";
import type { Context } from "../core/context.ts";
import { nullIfNotFound } from "../core/refusal.ts";
import type { Logged } from "./build-jobs.ts";
import { readFound } from "./logs.ts";

/** Bytes that a page shows where scripts are off. */
const TAIL_BYTES = 16 * 1024;

/** Bytes of a log, of which the first is at `start`. */
export interface LogPart {
  start: number;
  bytes: Uint8Array;
}

/** A part of a log; null when the log was deleted. */
export const readLogPart = async (
  context: Context,
  log: Logged,
  part: { suffix: number } | { start: number; end: number },
): Promise<LogPart | null> => {
  const found = await nullIfNotFound(readFound(context, log, part));
  return found && { start: found.start, bytes: new Uint8Array(await new Response(found.body).arrayBuffer()) };
};

/** The end of a log for a page. @param bytes how many of them are needed beside those that are shown */
export const readLogEnd = (context: Context, log: Logged, bytes = 0): Promise<LogPart | null> =>
  readLogPart(context, log, { suffix: Math.max(TAIL_BYTES, bytes) });

/** The last lines as plain text, without the rest of one that begins before them; null of a deleted log. */
export const tailOf = (end: LogPart | null): string | null => {
  if (end === null) return null;
  const cut = Math.max(0, end.bytes.length - TAIL_BYTES);
  const text = new TextDecoder().decode(end.bytes.subarray(cut));
  const whole = cut + end.start > 0 ? text.slice(text.indexOf("\n") + 1) : text;
  return plainText(whole.split("\n").map(settledLine).join("\n"));
};
