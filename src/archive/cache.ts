import type { CacheCodec } from "../protocol/cache.ts";
import { PERIODS } from "../protocol/limits.ts";
import { MINUTE_MS } from "../protocol/units.ts";
import { ABSENT } from "./bytes.ts";

/*
 * Who saves an entry of the cache takes its key first, so that the jobs that would save the same key send nothing. That
 * is a small object beside the entries: lists of entries do not see it, and releases before 0.13.0 pass it by.
 */

const CACHE_RESERVED = "cachereserved";

const RESERVED_MS = PERIODS.cacheSavingMinutes * MINUTE_MS;

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

/*
 * An entry of the cache is two objects: its bytes, and a small one that names them. Bytes that no entry names were
 * never seen: those of a lost lease, or of a second save under one key.
 */

/** Kinds of objects: each is the first part of a key. */
const CACHE_ENTRY = "cache";
export const CACHE_BYTES = "cachebytes";
const EMPTIED = "cacheemptied";

/** What the small object says. It is made once; only its day changes. */
export interface StoredEntry {
  key: string;
  /** Names its bytes. */
  id: string;
  bytes: number;
  sha256: string;
  codec: CacheCodec;
  ref: string;
  pipelineId: string;
  isOfDefaultBranch: boolean;
  madeAt: string;
  /** The day (UTC) on which a build found it last. */
  usedDay: string;
}

export interface FoundEntry extends StoredEntry {
  /** The end of its keys in both kinds: organization, repository, pipeline, scope and a hash of its own key. */
  path: string;
  etag: string;
}

export const repositoryPath = (orgId: string, repoId: string): string => `${orgId}/${repoId}/`;
export const scopePath = (orgId: string, repoId: string, pipelineId: string, scope: string): string =>
  `${repositoryPath(orgId, repoId)}${pipelineId}/${scope}/`;

export const entryKey = (path: string): string => `${CACHE_ENTRY}/${path}`;
export const bytesKey = (path: string, id: string): string => `${CACHE_BYTES}/${path}/${id}`;
const emptiedKey = (orgId: string, repoId: string): string => `${EMPTIED}/${repositoryPath(orgId, repoId)}at`;

/** Pages of a repository that are read at most. */
const PAGES = 10;

const toEntry = ({ key, etag, customMetadata }: R2Object): FoundEntry | null => {
  const text = customMetadata?.entry;
  if (text === undefined) return null;
  return { ...(JSON.parse(text) as StoredEntry), path: key.slice(CACHE_ENTRY.length + 1), etag };
};

/** R2 compares bodies by their ETags: the day makes each one another. */
const toObject = (entry: StoredEntry) => [entry.usedDay, { customMetadata: { entry: JSON.stringify(entry) } }] as const;

export const findEntry = async (archive: R2Bucket, path: string): Promise<FoundEntry | null> => {
  const object = await archive.head(entryKey(path));
  return object && toEntry(object);
};

/** The entries below a path, in no order. */
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

/** The entries from one path to another, both included. */
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

/** Makes an entry, once. @returns whether it is this one now */
export const putEntry = async (archive: R2Bucket, path: string, entry: StoredEntry): Promise<boolean> => {
  const [body, metadata] = toObject(entry);
  if (await archive.put(entryKey(path), body, { ...metadata, onlyIf: ABSENT })) return true;
  return (await findEntry(archive, path))?.id === entry.id;
};

/** Notes the day on which it was found; not where it was changed since. */
export const touchEntry = async (archive: R2Bucket, foundEntry: FoundEntry, usedDay: string): Promise<void> => {
  const { path, etag, ...entry } = foundEntry;
  const [body, metadata] = toObject({ ...entry, usedDay });
  await archive.put(entryKey(path), body, { ...metadata, onlyIf: { etagMatches: etag } });
};

/** Deletes entries, then their bytes. May be repeated. */
export const deleteEntries = async (archive: R2Bucket, entries: Pick<FoundEntry, "path" | "id">[]): Promise<void> => {
  if (entries.length === 0) return;
  await archive.delete(entries.map(({ path }) => entryKey(path)));
  await archive.delete(entries.map(({ path, id }) => bytesKey(path, id)));
};

/** When the cache of a repository was emptied last; an empty text where it never was. It is part of every scope. */
export const emptiedAt = async (archive: R2Bucket, orgId: string, repoId: string): Promise<string> =>
  (await archive.head(emptiedKey(orgId, repoId)))?.customMetadata?.at ?? "";

/** From now on no build finds an entry that was made before, wherever a copy of it is. */
export const markEmptied = async (archive: R2Bucket, orgId: string, repoId: string, at: string): Promise<void> => {
  await archive.put(emptiedKey(orgId, repoId), at, { customMetadata: { at } });
};

/**
 * Deletes all that is in a folder; with `keepsMark`, not that it was emptied.
 * @returns how many objects were deleted; as many as `limit`, or more, means that some may be left
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
