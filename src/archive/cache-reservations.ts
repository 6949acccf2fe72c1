/*
 * Who saves an entry of the cache takes its key first, so that the jobs that would save the same key send nothing. That
 * is a small object beside the entries: lists of entries do not see it, and releases before 0.13.0 pass it by.
 */

import { PERIODS } from "../protocol/limits.ts";
import { MINUTE_MS } from "../protocol/units.ts";
import { ABSENT } from "./bytes.ts";

export const CACHE_RESERVED = "cachereserved";

const RESERVED_MS = PERIODS.cacheSavingMinutes * MINUTE_MS;
/** Pages of one run, of as many as R2 lists and deletes at once. */
const PAGES = 10;

const keyOf = (path: string): string => `${CACHE_RESERVED}/${path}`;

/** Where an entry will be, and the lease that saves it. */
export interface Reservation {
  path: string;
  jobId: string;
  fence: number;
}

const leaseName = ({ jobId, fence }: Reservation): string => `${jobId}/${fence}`;

/**
 * Takes a key for ten minutes, from another lease only when its time is over. A lease that has had its time may go on,
 * but keeps nobody from the key any more. @returns whether this lease may save
 */
export const reserve = async (archive: R2Bucket, reservation: Reservation, now: number): Promise<boolean> => {
  const [key, lease, until] = [keyOf(reservation.path), leaseName(reservation), String(now + RESERVED_MS)];
  // R2 compares bodies: no two leases have the same.
  const take = (onlyIf: R2Conditional) =>
    archive.put(key, `${lease} ${until}`, { customMetadata: { lease, until }, onlyIf });
  if (await take(ABSENT)) return true;
  const before = await archive.head(key);
  if (before?.customMetadata?.lease === lease) return true;
  const isOver = before !== null && Number(before.customMetadata?.until ?? 0) <= now;
  return isOver && (await take({ etagMatches: before.etag })) !== null;
};

/** Gives back the key of a save that has ended, where it is still this lease's. May be repeated. */
export const giveBack = async (archive: R2Bucket, reserved: Reservation): Promise<void> => {
  const object = await archive.head(keyOf(reserved.path));
  if (object?.customMetadata?.lease === leaseName(reserved)) await archive.delete(object.key);
};

/** Deletes what was reserved before this time: nobody ended these saves. @returns how many */
export const deleteReservations = async (archive: R2Bucket, before: number): Promise<number> => {
  let deleted = 0;
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page++) {
    const listed = await archive.list({ prefix: `${CACHE_RESERVED}/`, cursor });
    const old = listed.objects.filter(({ uploaded }) => uploaded.getTime() < before);
    if (old.length > 0) await archive.delete(old.map(({ key }) => key));
    deleted += old.length;
    if (!listed.truncated) break;
    cursor = listed.cursor;
  }
  return deleted;
};
