import type { CacheCodec } from "../protocol/cache.ts";
import { PERIODS } from "../protocol/limits.ts";
import { MINUTE_MS } from "../protocol/units.ts";
import { ABSENT } from "./bytes.ts";

/*
 * A job that saves a cache entry reserves its key first, so that other jobs do not upload the same entry. The
 * reservation is a small object beside the entries. Lists of entries do not contain it, and releases older than 0.13.0
 * ignore it.
 */

const CACHE_RESERVED = "cachereserved";

const RESERVED_MS = PERIODS.cacheSavingMinutes * MINUTE_MS;

const keyOf = (path: string): string => `${CACHE_RESERVED}/${path}`;

/** The key of a future entry, and the lease that saves it. */
export interface Reservation {
  path: string;
  jobId: string;
  fence: number;
}

const leaseName = ({ jobId, fence }: Reservation): string => `${jobId}/${fence}`;

/**
 * Reserves a key for ten minutes. A lease can replace another lease's reservation only once that reservation has
 * expired. A lease whose reservation expired may continue, but no longer blocks the key. @returns whether this lease
 * may save
 */
export const reserve = async (archive: R2Bucket, reservation: Reservation, now: number): Promise<boolean> => {
  const [key, lease, until] = [keyOf(reservation.path), leaseName(reservation), String(now + RESERVED_MS)];
  // R2 compares bodies, and no two leases have the same body.
  const take = (onlyIf: R2Conditional) =>
    archive.put(key, `${lease} ${until}`, { customMetadata: { lease, until }, onlyIf });
  if (await take(ABSENT)) return true;
  const before = await archive.head(key);
  if (before?.customMetadata?.lease === lease) return true;
  const isOver = before !== null && Number(before.customMetadata?.until ?? 0) <= now;
  return isOver && (await take({ etagMatches: before.etag })) !== null;
};

/** Releases the key after a save, if this lease still holds it. The call is idempotent. */
export const giveBack = async (archive: R2Bucket, reserved: Reservation): Promise<void> => {
  const object = await archive.head(keyOf(reserved.path));
  if (object?.customMetadata?.lease === leaseName(reserved)) await archive.delete(object.key);
};

/**
 * Deletes reservations that are older than this time and that no job released. @returns the number of deleted
 * reservations
 */
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

/*
 * A cache entry is two objects: its bytes, and a small object that names them. If no entry names some bytes, they were
 * never visible. Such bytes belong to a lost lease, or to a second save under the same key.
 */

/** Kinds of objects: each is the first part of a key. */
const CACHE_ENTRY = "cache";
export const CACHE_BYTES = "cachebytes";
const EMPTIED = "cacheemptied";

/** The content of the small object. The service writes it once, and only its day changes. */
export interface StoredEntry {
  key: string;
  /** The id of the entry's bytes. */
  id: string;
  bytes: number;
  sha256: string;
  codec: CacheCodec;
  ref: string;
  pipelineId: string;
  isOfDefaultBranch: boolean;
  madeAt: string;
  /** The last day (UTC) on which a build used it. */
  usedDay: string;
}

export interface FoundEntry extends StoredEntry {
  /** The common end of both keys: organization, repository, pipeline, scope and a hash of the entry's own key. */
  path: string;
  etag: string;
}

export const repositoryPath = (orgId: string, repoId: string): string => `${orgId}/${repoId}/`;
export const scopePath = (orgId: string, repoId: string, pipelineId: string, scope: string): string =>
  `${repositoryPath(orgId, repoId)}${pipelineId}/${scope}/`;

export const entryKey = (path: string): string => `${CACHE_ENTRY}/${path}`;
export const bytesKey = (path: string, id: string): string => `${CACHE_BYTES}/${path}/${id}`;
const emptiedKey = (orgId: string, repoId: string): string => `${EMPTIED}/${repositoryPath(orgId, repoId)}at`;

/** The maximum number of pages that one call reads for one repository. */
const PAGES = 10;

const toEntry = ({ key, etag, customMetadata }: R2Object): FoundEntry | null => {
  const text = customMetadata?.entry;
  if (text === undefined) return null;
  return { ...(JSON.parse(text) as StoredEntry), path: key.slice(CACHE_ENTRY.length + 1), etag };
};

/** R2 compares bodies by their ETags, so the day makes each body unique. */
const toObject = (entry: StoredEntry) => [entry.usedDay, { customMetadata: { entry: JSON.stringify(entry) } }] as const;

export const findEntry = async (archive: R2Bucket, path: string): Promise<FoundEntry | null> => {
  const object = await archive.head(entryKey(path));
  return object && toEntry(object);
};

/** Lists the entries below a path, in no particular order. */
export const listEntries = async (archive: R2Bucket, path: string): Promise<FoundEntry[]> => {
  const entries: FoundEntry[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page++) {
    const listed = await archive.list({ prefix: entryKey(path), cursor, include: ["customMetadata"] });
    entries.push(...listed.objects.map(toEntry).filter((entry) => entry !== null));
    if (!listed.truncated) break;
    cursor = listed.cursor;
  }
  return entries;
};

/** Lists the entries from one path to another, inclusive. */
export const listEntriesFrom = async (archive: R2Bucket, first: string, last: string): Promise<FoundEntry[]> => {
  const begun = await findEntry(archive, first);
  const entries: FoundEntry[] = begun ? [begun] : [];
  let startAfter = entryKey(first);
  for (let page = 0; page < PAGES; page++) {
    const listed = await archive.list({ prefix: `${CACHE_ENTRY}/`, startAfter, include: ["customMetadata"] });
    const within = listed.objects.filter(({ key }) => key <= entryKey(last));
    entries.push(...within.map(toEntry).filter((entry) => entry !== null));
    startAfter = within.at(-1)?.key ?? startAfter;
    if (!listed.truncated || within.length < listed.objects.length) break;
  }
  return entries;
};

/** Creates an entry, once. @returns whether the path holds this entry now */
export const putEntry = async (archive: R2Bucket, path: string, entry: StoredEntry): Promise<boolean> => {
  const [body, metadata] = toObject(entry);
  if (await archive.put(entryKey(path), body, { ...metadata, onlyIf: ABSENT })) return true;
  return (await findEntry(archive, path))?.id === entry.id;
};

/** Records the day on which a build used the entry, unless the entry has changed in the meantime. */
export const touchEntry = async (archive: R2Bucket, foundEntry: FoundEntry, usedDay: string): Promise<void> => {
  const { path, etag, ...entry } = foundEntry;
  const [body, metadata] = toObject({ ...entry, usedDay });
  await archive.put(entryKey(path), body, { ...metadata, onlyIf: { etagMatches: etag } });
};

/** Deletes entries, then their bytes. Idempotent. */
export const deleteEntries = async (archive: R2Bucket, entries: Pick<FoundEntry, "path" | "id">[]): Promise<void> => {
  if (entries.length === 0) return;
  await archive.delete(entries.map(({ path }) => entryKey(path)));
  await archive.delete(entries.map(({ path, id }) => bytesKey(path, id)));
};

/**
 * Reads when somebody last emptied a repository's cache. Returns an empty text if nobody ever emptied the cache. This
 * time is part of every scope.
 */
export const emptiedAt = async (archive: R2Bucket, orgId: string, repoId: string): Promise<string> =>
  (await archive.head(emptiedKey(orgId, repoId)))?.customMetadata?.at ?? "";

/** Marks the cache as emptied. From now on no build finds an older entry, wherever a copy of the entry is. */
export const markEmptied = async (archive: R2Bucket, orgId: string, repoId: string, at: string): Promise<void> => {
  await archive.put(emptiedKey(orgId, repoId), at, { customMetadata: { at } });
};

/**
 * Deletes everything in a folder. With `keepsMark`, keeps the mark that records when somebody emptied the cache.
 * @returns the number of deleted objects. If this is at least `limit`, some may remain.
 */
export const deleteCache = async (
  archive: R2Bucket,
  folder: string,
  { limit = 20_000, keepsMark = false }: { limit?: number; keepsMark?: boolean } = {},
): Promise<number> => {
  let deleted = 0;
  for (const kind of [CACHE_ENTRY, CACHE_BYTES, CACHE_RESERVED, ...(keepsMark ? [] : [EMPTIED])])
    for (;;) {
      const { objects } = await archive.list({ prefix: `${kind}/${folder}` });
      if (objects.length === 0) break;
      await archive.delete(objects.map(({ key }) => key));
      deleted += objects.length;
      if (deleted >= limit) return deleted;
    }
  return deleted;
};
