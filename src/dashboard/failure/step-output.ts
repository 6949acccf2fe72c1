import type { Step } from "../../protocol/build.ts";
import type { Context } from "../../services/core/context.ts";
import type { Logged } from "../../services/log-places.ts";
import { type LogPart, readLogPart } from "../log-tail.ts";
import type { LogLine } from "./error-lines.ts";

/** Bytes of a step's output that are read, at its end. */
export const OUTPUT_BYTES = 64 * 1024;
const NEWLINE = 10;

/** The part of the log from `begin` to the next step: `end` is null for the last one. */
const rangeOf = (steps: Step[], begin: number): { begin: number; end: number | null } => {
  const later = steps.flatMap(({ logOffset }) => (logOffset !== null && logOffset > begin ? [logOffset] : []));
  return { begin, end: later.length > 0 ? Math.min(...later) : null };
};

/** The lines of these bytes, without one that begins before them. */
const linesOf = ({ bytes, start }: LogPart, begin: number, end: number): LogLine[] => {
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
 * The last lines of the step that begins at this byte of the log. `end` is the end of the log where it is read already: it has them, unless later steps wrote
 * more. Then one range of the log is read, however long the log is.
 */
export const readOutput = async (
  context: Context,
  log: Logged,
  steps: Step[],
  begin: number,
  end: LogPart | null,
): Promise<LogLine[]> => {
  const range = rangeOf(steps, begin);
  const to = range.end ?? Number.POSITIVE_INFINITY;
  const has = end && (end.start <= range.begin || (range.end === null && end.bytes.length > 0));
  if (has) return linesOf(end, range.begin, to);
  const part =
    range.end === null
      ? { suffix: OUTPUT_BYTES }
      : { start: Math.max(range.begin, range.end - OUTPUT_BYTES), end: range.end };
  const read = await readLogPart(context, log, part);
  return read ? linesOf(read, range.begin, to) : [];
};
