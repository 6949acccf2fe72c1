import * as z from "zod/mini";
import { type LogOwner, listLogs, readLogText, readLogTimes, shownLog } from "../../archive/logs.ts";
import { PathId } from "../../protocol/common.ts";
import { LogFilter, LogTime } from "../../protocol/log.ts";
import type { Context } from "../core/context.ts";
import { reaching } from "../core/outage.ts";
import { logDeleted, notFound, settled } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";
import { readHolder } from "../jobs/jobs.ts";
import { findLog, findLogOwner, isLongEnded, type Logged } from "./build-jobs.ts";

interface Chunk {
  /** The number of bytes that this lease sent earlier. */
  offset: number;
  final: boolean;
  bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Masks a chunk of a job's log again and stores it. Flags the job if the agent left a secret unmasked. Only the log
 * checks the writer, by fence and token.
 */
export const appendLog = async (
  context: Context,
  jobId: string,
  chunk: Chunk,
): Promise<{ next: number; followed: boolean }> => {
  const { fence, tokenHash } = await readHolder(context, jobId);
  const { next, leaked, followed } = settled(
    await context.objects.log(context.orgId, jobId).append({ fence, tokenHash, ...chunk }),
  );
  if (leaked) settled(await context.objects.pool(context.orgId).flagLeak({ jobId, fence }));
  return { next, followed };
};

interface Part {
  attempt?: number;
  start?: number;
  /** The offset before which the part ends. */
  end?: number;
  /** The number of bytes at the end. It replaces `start` and `end`. */
  suffix?: number;
}

interface OpenedLog {
  size: number;
  isComplete: boolean;
  start: number;
  end: number;
  body: ReadableStream<Uint8Array>;
}

/** Opens the stored bytes of a log as a stream. @throws Refusal not-found */
export const openLog = async (context: Context, id: string, part: Part): Promise<OpenedLog> =>
  readFound(context, await findLog(context, id), part);

/** Opens the log of a build that the caller has already found. @throws Refusal not-found */
export const readFound = async (context: Context, build: Logged, part: Part): Promise<OpenedLog> => {
  if (build.isLogDeleted) throw logDeleted();
  const inObject = () => readFromObject(context, build.id, part);
  const log = await inEitherPlace(context, build, inObject, (owner) => readFromArchive(context, owner, part));
  if (log) return log;
  if (part.attempt !== undefined) throw notFound();
  const hasEnded = build.finishedAt !== null;
  if (hasEnded && build.attempt > 0) throw logDeleted();
  return { size: 0, isComplete: hasEnded, start: 0, end: 0, body: new Blob([]).stream() };
};

/**
 * Looks for the log in the expected place and then in the other place. Then looks in the archive again, because the
 * log may have moved meanwhile.
 */
const inEitherPlace = async <T>(
  context: Context,
  build: Logged,
  inObject: () => Promise<T | null>,
  inArchive: (owner: LogOwner) => Promise<T | null>,
): Promise<T | null> => {
  const owner = findLogOwner(build);
  const early = owner && isLongEnded(context, build) ? await inArchive(owner).catch(() => null) : null;
  return early ?? (await inObject()) ?? (owner && reaching(inArchive(owner)));
};

const readFromObject = async (context: Context, jobId: string, part: Part): Promise<OpenedLog | null> => {
  const log = context.objects.log(context.orgId, jobId);
  const opened = await log.read(part);
  if (!opened.ok && opened.refusal.kind === "not-found") return null;
  const answer = settled(opened);
  return answer.attempt === 0 ? null : answer;
};

const readFromArchive = async (context: Context, owner: LogOwner, part: Part): Promise<OpenedLog | null> => {
  const log = shownLog(await listLogs(context.archive, owner), part.attempt ?? null);
  if (!log) return null;
  const { size, key } = log;
  const from = part.suffix === undefined ? (part.start ?? 0) : Math.max(0, size - part.suffix);
  const end = Math.min(part.end ?? size, size);
  const start = Math.min(from, end);
  return { size, isComplete: true, start, end, body: await readLogText(context.archive, key, start, end) };
};

/** Lists the times when the parts of a log were stored, so that each line can show its time. */
export const listLogTimes = verb({
  access: { role: "viewer" },
  params: PathId,
  query: LogFilter,
  output: z.array(LogTime),
  async run(context, { params, query: { attempt } }) {
    const job = await findLog(context, params.id);
    const inObject = () => context.objects.log(context.orgId, job.id).times({ attempt });
    const times = await inEitherPlace(context, job, inObject, async (owner) => {
      const log = shownLog(await listLogs(context.archive, owner), attempt ?? null);
      return log ? readLogTimes(context.archive, log) : null;
    });
    if (!times && attempt !== undefined) throw notFound();
    return (times ?? []).map(({ offset, at }) => ({ offset, at: new Date(at).toISOString() }));
  },
});
