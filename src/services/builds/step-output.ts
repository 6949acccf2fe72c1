import type { LogLine } from "../../domain/failure/error-lines.ts";
import { partFrom } from "../../domain/failure/failing-part.ts";
import type { Step } from "../../protocol/build.ts";
import type { Context } from "../core/context.ts";
import type { Logged } from "./build-jobs.ts";
import { type LogPart, readLogPart } from "./log-end.ts";

/** Bytes of a step's output that are read, at its end. */
export const OUTPUT_BYTES = 64 * 1024;
const NEWLINE = 10;

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
 * The last lines of the step that begins at this byte of the log. `end` is the end of the log where it is read already:
 * it has them, unless later steps wrote more. Then one range of the log is read, however long the log is.
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
  if (has) return linesOf(end, begin, to);
  const wanted =
    part.end === null ? { suffix: OUTPUT_BYTES } : { start: Math.max(begin, part.end - OUTPUT_BYTES), end: part.end };
  const read = await readLogPart(context, log, wanted);
  return read ? linesOf(read, begin, to) : [];
};
