import { readRange } from "./bytes.ts";
import { logKey, logPrefix } from "./keys.ts";

/** Whose log it is, and the day (UTC) on which its job ended: its build, where planned jobs took the job's place. */
export interface LogOwner {
  day: string;
  orgId: string;
  jobId: string;
}

/** The whole log of one attempt in the archive. */
export interface ArchivedLog {
  attempt: number;
  /** Bytes of text. The times follow them. */
  size: number;
  key: string;
}

/** From this byte on the text was stored at this time (milliseconds since 1970). */
interface LogTime {
  offset: number;
  at: number;
}

/**
 * Stores an attempt's log: its text, then its times as JSON. May be repeated.
 * @throws where the archive does not confirm each byte
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
  if (object.size !== total) throw new Error(`The archive kept ${object.size} of ${total} bytes of a log`);
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

/** The attempts whose logs are in the archive, in order. */
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

/** The log to show: the latest with any text, else the latest. `attempt` limits the choice to one attempt. */
export const shownLog = (logs: ArchivedLog[], attempt: number | null): ArchivedLog | undefined => {
  const candidates = logs.filter((log) => attempt === null || log.attempt === attempt);
  return candidates.findLast(({ size }) => size > 0) ?? candidates.at(-1);
};

/** The text from `start` to before `end`. @throws where retention has deleted it meanwhile */
export const readLogText = async (
  archive: R2Bucket,
  key: string,
  start: number,
  end: number,
): Promise<ReadableStream<Uint8Array>> => {
  const text = await readRange(archive, key, { start, end });
  if (!text) throw new Error("The archived log is gone");
  return text;
};

export const readLogTimes = async (archive: R2Bucket, { key, size }: ArchivedLog): Promise<LogTime[]> => {
  const object = await archive.get(key, { range: { offset: size } });
  const times = object ? await object.json<[number, number][]>() : [];
  return times.map(([offset, at]) => ({ offset, at }));
};

/** Deletes the logs of all attempts. May be repeated. */
export const deleteLogs = async (archive: R2Bucket, owner: LogOwner): Promise<void> => {
  const keys = (await listLogs(archive, owner)).map(({ key }) => key);
  if (keys.length > 0) await archive.delete(keys);
};
