import { readRange } from "./bytes.ts";
import { logKey, logPrefix } from "./keys.ts";

/**
 * The job that owns a log, and the day (UTC) on which the job ended. If planned jobs replaced the job, this is the day
 * on which its build ended.
 */
export interface LogOwner {
  day: string;
  orgId: string;
  jobId: string;
}

/** The whole log of one attempt in the archive. */
export interface ArchivedLog {
  attempt: number;
  /** The size of the text in bytes. The times follow the text. */
  size: number;
  key: string;
}

/** The time (milliseconds since 1970) at which the service stored the text from this byte on. */
interface LogTime {
  offset: number;
  at: number;
}

/**
 * Stores an attempt's log: its text, then its times as JSON. The call is idempotent.
 * @throws where the archive does not confirm every byte
 */
export const putLog = async (
  archive: R2Bucket,
  owner: LogOwner,
  log: { attempt: number; size: number; text: ReadableStream<Uint8Array>; times: LogTime[] },
): Promise<void> => {
  const times = new TextEncoder().encode(JSON.stringify(log.times.map(({ offset, at }) => [offset, at])));
  const total = log.size + times.length;
  const { readable, writable } = new FixedLengthStream(total);
  const sending = send(log.text, times, writable);
  const key = logKey(owner.day, owner.orgId, owner.jobId, log.attempt);
  const storing = archive.put(key, readable, {
    customMetadata: { size: String(log.size) },
    httpMetadata: { contentType: "text/plain; charset=utf-8" },
  });
  const [object] = await Promise.all([storing, sending]);
  if (object.size !== total) throw new Error(`The archive stored ${object.size} of ${total} bytes of a log`);
};

const send = async (
  text: ReadableStream<Uint8Array>,
  times: Uint8Array,
  to: WritableStream<Uint8Array>,
): Promise<void> => {
  await text.pipeTo(to, { preventClose: true });
  const writer = to.getWriter();
  await writer.write(times);
  await writer.close();
};

/** Lists the attempts whose logs are in the archive, in order. */
export const listLogs = async (archive: R2Bucket, { day, orgId, jobId }: LogOwner): Promise<ArchivedLog[]> => {
  const prefix = logPrefix(day, orgId, jobId);
  const { objects } = await archive.list({ prefix, include: ["customMetadata"] });
  const logs = objects.map(({ key, customMetadata }) => ({
    attempt: Number(key.slice(prefix.length)),
    size: Number(customMetadata?.size ?? 0),
    key,
  }));
  return logs.sort((one, other) => one.attempt - other.attempt);
};

/**
 * Chooses the log to show: the latest log with text, or else the latest log. `attempt` limits the choice to one
 * attempt.
 */
export const shownLog = (logs: ArchivedLog[], attempt: number | null): ArchivedLog | undefined => {
  const candidates = logs.filter((log) => attempt === null || log.attempt === attempt);
  return candidates.findLast(({ size }) => size > 0) ?? candidates.at(-1);
};

/** Reads the text from `start` up to `end`, exclusive. @throws if retention has deleted it in the meantime */
export const readLogText = async (
  archive: R2Bucket,
  key: string,
  start: number,
  end: number,
): Promise<ReadableStream<Uint8Array>> => {
  const text = await readRange(archive, key, { start, end });
  if (!text) throw new Error("The archived log does not exist");
  return text;
};

export const readLogTimes = async (archive: R2Bucket, { key, size }: ArchivedLog): Promise<LogTime[]> => {
  const object = await archive.get(key, { range: { offset: size } });
  const times = object ? await object.json<[number, number][]>() : [];
  return times.map(([offset, at]) => ({ offset, at }));
};

/** Deletes the logs of all attempts. Idempotent. */
export const deleteLogs = async (archive: R2Bucket, owner: LogOwner): Promise<void> => {
  const keys = (await listLogs(archive, owner)).map(({ key }) => key);
  if (keys.length > 0) await archive.delete(keys);
};
