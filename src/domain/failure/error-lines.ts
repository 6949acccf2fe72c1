import type { Step } from "../../protocol/build.ts";
import { settledLine } from "../../protocol/settled-line.ts";
import { plainText } from "../text.ts";
import { COMPLAINS, SAYS_WHERE, SAYS_WHY } from "./error-patterns.ts";

/** Lines that do not name the cause: after them, a person would have to keep looking. */
const WARNS = /\b0 (?:errors?|failed|failures?)\b|\bwarning\b/i;
/** Prefixes that other programs add to the lines of their commands: Docker's builds, Terraform's frames. */
const BEFORE = /^(?:#\d+ (?:\d+\.\d+ )?|│ )/;
const RED = /\x1b\[(?:[\d;]*;)?(?:31|91)m\s*[^\s\x1b]/;

/**
 * Rates how well a line explains the failure of a step. A line with 3 names the cause, and one with 2 names the part
 * that failed. A line with 1 is only red or a complaint, and one with 0 explains nothing.
 */
export const errorRank = (line: string): 0 | 1 | 2 | 3 => {
  const raw = settledLine(line);
  const text = plainText(raw).slice(0, 1000).replace(BEFORE, "").trimEnd();
  if (WARNS.test(text)) return 0;
  if (SAYS_WHY.some((pattern) => pattern.test(text))) return 3;
  if (SAYS_WHERE.some((pattern) => pattern.test(text))) return 2;
  return COMPLAINS.test(text) || RED.test(raw) ? 1 : 0;
};

/** A log line with its byte offset. */
export interface LogLine {
  offset: number;
  text: string;
}

export interface Excerpt {
  /** Lines around the error. The error is the line at `at`. */
  lines: LogLine[];
  at: number;
  /** The offsets of the error lines with the highest rank, ascending. */
  errors: number[];
}

/** The maximum number of a step's lines to read. Earlier errors appear only in the log. */
const MOST_LINES = 400;
const CONTEXT = 3;
const MOST_ERRORS = 50;
/** The maximum number of characters of a line in an excerpt. */
const MOST_CHARACTERS = 500;
/** The maximum number of characters of a line in a list. */
const LISTED_CHARACTERS = 200;

/**
 * Finds the line that explains why these lines end in a failure, with its context. Returns the last lines if no line
 * explains it, and null without text.
 */
export const findExcerpt = (all: LogLine[]): Excerpt | null => {
  const lines = all.slice(-MOST_LINES);
  while (lines.length > 0 && plainText(settledLine(lines.at(-1)?.text ?? "")).trim() === "") lines.pop();
  if (lines.length === 0) return null;
  const ranks = lines.map(({ text }) => errorRank(text));
  const best = Math.max(...ranks);
  const errorIndexes = best === 0 ? [lines.length - 1] : ranks.flatMap((rank, index) => (rank === best ? [index] : []));
  const [first = 0] = errorIndexes;
  const from = Math.max(0, first - CONTEXT);
  const excerptLines = lines.slice(from, first + CONTEXT + 1).map(({ offset, text }) => ({
    offset,
    text: plainText(settledLine(text)).slice(0, MOST_CHARACTERS),
  }));
  const errors = (best === 0 ? [] : errorIndexes).slice(0, MOST_ERRORS).flatMap((index) => lines[index]?.offset ?? []);
  return { lines: excerptLines, at: first - from, errors };
};

/**
 * Finds the line at a log's end that explains why it failed, as lists show it; otherwise null. @param end the log's
 * last bytes, as text
 */
export const findFailedLine = (end: string): string | null => {
  const excerpt = findExcerpt(end.split("\n").map((text, offset) => ({ offset, text })));
  const line = excerpt && excerpt.errors.length > 0 ? excerpt.lines[excerpt.at]?.text.trim() : undefined;
  return line ? line.slice(0, LISTED_CHARACTERS).toWellFormed() : null;
};

/** Bytes of a log, from `start` up to `end`, exclusive, or up to the log's end if `end` is null. */
export interface PartOfLog {
  start: number;
  end: number | null;
}

/** Returns the output of the step that begins at `start`, up to the start of the next step. */
export const partFrom = (steps: readonly Step[], start: number): PartOfLog => {
  const later = steps.flatMap(({ logOffset }) => (logOffset !== null && logOffset > start ? [logOffset] : []));
  return { start, end: later.length > 0 ? Math.min(...later) : null };
};

/** Returns the output of the failed step. Without a failed step, returns the output before the first step. */
export const failingPart = (steps: readonly Step[]): PartOfLog =>
  partFrom(steps, steps.find(({ status }) => status === "failed")?.logOffset ?? 0);
