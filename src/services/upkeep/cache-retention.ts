import { CACHE_BYTES, deleteEntries, type FoundEntry, listEntriesFrom } from "../../archive/cache.ts";
import { deleteReservations } from "../../archive/cache-reservations.ts";
import { dayOf } from "../../archive/keys.ts";
import { PERIODS } from "../../protocol/limits.ts";
import { DAY_MS } from "../../protocol/units.ts";
import type { Chore } from "./run.ts";

/** Bytes of entries that are looked at in one page, and pages of one run. */
const PAGE = 500;
const PAGES = 10;
/** What belongs to no entry may still be part of a save for this long. */
const UNNAMED_MS = DAY_MS;
/** Remembers where the last run stopped. */
const PLACE = "sweep/cache";

interface Page {
  bytes: R2Object[];
  entries: Map<string, FoundEntry>;
}

const pathIn = (key: string): string => key.slice(CACHE_BYTES.length + 1, key.lastIndexOf("/"));

const readPage = async (archive: R2Bucket, startAfter: string | undefined): Promise<Page> => {
  const { objects } = await archive.list({ prefix: `${CACHE_BYTES}/`, startAfter, limit: PAGE });
  const [first, last] = [objects[0], objects.at(-1)];
  if (!first || !last) return { bytes: [], entries: new Map() };
  const entries = await listEntriesFrom(archive, pathIn(first.key), pathIn(last.key));
  return { bytes: objects, entries: new Map(entries.map((entry) => [entry.path, entry])) };
};

/** Deletes entries that no build has found for long, and what is left of saves that nobody ended. */
export const removeUnusedCache: Chore = async ({ env: { ARCHIVE: archive }, now }) => {
  const oldest = dayOf(now - PERIODS.cacheDays * DAY_MS);
  let after = (await archive.head(PLACE))?.customMetadata?.after || undefined;
  let removed = await deleteReservations(archive, now - UNNAMED_MS);
  for (let page = 0; page < PAGES; page++) {
    const { bytes, entries } = await readPage(archive, after);
    const unused = [...entries.values()].filter(({ usedDay }) => usedDay < oldest);
    const unnamed = bytes.filter(
      ({ key, uploaded }) =>
        entries.get(pathIn(key))?.id !== key.slice(key.lastIndexOf("/") + 1) && uploaded.getTime() < now - UNNAMED_MS,
    );
    await deleteEntries(archive, unused);
    if (unnamed.length > 0) await archive.delete(unnamed.map(({ key }) => key));
    removed += unused.length + unnamed.length;
    after = bytes.length === PAGE ? bytes.at(-1)?.key : undefined;
    if (after === undefined) break;
  }
  await archive.put(PLACE, after ?? "", { customMetadata: { after: after ?? "" } });
  return { cache: removed };
};
