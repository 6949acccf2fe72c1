import { sql } from "drizzle-orm";
import {
  CACHE_BYTES,
  deleteEntries,
  deleteReservations,
  type FoundEntry,
  listEntriesFrom,
} from "../../archive/cache.ts";
import { dayOf } from "../../archive/keys.ts";
import { PERIODS } from "../../protocol/limits.ts";
import { DAY_MS } from "../../protocol/units.ts";
import { ObjectStubs } from "../core/object-stubs.ts";
import { type Chore, isKept, type Upkeep } from "./run.ts";

/** The number of objects on a page, as R2 lists them, and the number of pages in one run. */
const PAGE = 1000;
const PAGES = 20;
const TELL_MS = 10_000;

/**
 * The progress of the count. The chore has counted all objects up to this key. The key's organization has this many
 * bytes so far.
 */
interface Place {
  key: string;
  bytes: number;
}

const orgIn = (key: string): string => key.split("/")[1] ?? "";

/** Continues the count from a place. `whole` has the organizations with a complete count. */
const countFrom = async (archive: R2Bucket, begin: Place) => {
  let { key, bytes } = begin;
  const whole: { orgId: string; bytes: number }[] = [];
  for (let page = 0; page < PAGES; page++) {
    const listed = await archive.list({ prefix: `${CACHE_BYTES}/`, startAfter: key || undefined, limit: PAGE });
    for (const object of listed.objects) {
      if (key !== "" && orgIn(object.key) !== orgIn(key)) {
        whole.push({ orgId: orgIn(key), bytes });
        bytes = 0;
      }
      bytes += object.size;
      key = object.key;
    }
    if (listed.truncated) continue;
    if (key !== "") whole.push({ orgId: orgIn(key), bytes });
    return { whole, place: null };
  }
  return { whole, place: { key, bytes } };
};

/** Returns the organizations that exist and are not being deleted. */
const listKept = async ({ db }: Upkeep, ids: string[]): Promise<Set<string>> => {
  const [{ results }] = await db.run(
    db.statement<{ id: string }>(sql`SELECT id FROM organization
      WHERE id IN (SELECT value FROM json_each(${JSON.stringify(ids)})) AND ${isKept(sql`organization.id`)}`),
  );
  return new Set(results.map(({ id }) => id));
};

/**
 * Counts the bytes of each organization's cache once a day and sends the count to its pool, which knows only the saves
 * since then. The objects' keys begin with the organization, so that the count covers one organization at a time.
 */
export const countCaches: Chore = async (run) => {
  const { env, turn, failures } = run;
  const begin = turn.place ? (JSON.parse(turn.place) as Place) : { key: "", bytes: 0 };
  const { whole, place } = await countFrom(env.ARCHIVE, begin);
  const newest =
    whole.length > 0
      ? await listKept(
          run,
          whole.map(({ orgId }) => orgId),
        )
      : new Set<string>();
  const objects = new ObjectStubs(env);
  const counted = whole.filter(({ orgId }) => newest.has(orgId));
  await Promise.all(
    counted.map(({ orgId, bytes }) =>
      failures.attempt({ kind: "count", subject: orgId, orgId }, TELL_MS, () =>
        objects.pool(orgId).cacheCounted(bytes),
      ),
    ),
  );
  turn.place = place ? JSON.stringify(place) : "";
  turn.goesOn = place !== null;
  return { cachesCounted: counted.length };
};

/** The number of objects to check on one page, and the number of pages in one run. */
const SWEEP_PAGE = 500;
const SWEEP_PAGES = 10;
/** Milliseconds for which bytes without an entry may still be part of a save. */
const UNNAMED_MS = DAY_MS;
/** The key under which the chore stores where its last run stopped. */
const PLACE = "sweep/cache";

interface Page {
  bytes: R2Object[];
  entries: Map<string, FoundEntry>;
}

const pathIn = (key: string): string => key.slice(CACHE_BYTES.length + 1, key.lastIndexOf("/"));

const readPage = async (archive: R2Bucket, startAfter: string | undefined): Promise<Page> => {
  const { objects } = await archive.list({ prefix: `${CACHE_BYTES}/`, startAfter, limit: SWEEP_PAGE });
  const [first, last] = [objects[0], objects.at(-1)];
  if (!first || !last) return { bytes: [], entries: new Map() };
  const entries = await listEntriesFrom(archive, pathIn(first.key), pathIn(last.key));
  return { bytes: objects, entries: new Map(entries.map((entry) => [entry.path, entry])) };
};

/** Deletes entries that no build has found for a long time, and the remains of saves that nobody ended. */
export const removeUnusedCache: Chore = async ({ env: { ARCHIVE: archive }, now }) => {
  const oldest = dayOf(now - PERIODS.cacheDays * DAY_MS);
  let after = (await archive.head(PLACE))?.customMetadata?.after || undefined;
  let removed = await deleteReservations(archive, now - UNNAMED_MS);
  for (let page = 0; page < SWEEP_PAGES; page++) {
    const { bytes, entries } = await readPage(archive, after);
    const unused = [...entries.values()].filter(({ usedDay }) => usedDay < oldest);
    const unnamed = bytes.filter(
      ({ key, uploaded }) =>
        entries.get(pathIn(key))?.id !== key.slice(key.lastIndexOf("/") + 1) && uploaded.getTime() < now - UNNAMED_MS,
    );
    await deleteEntries(archive, unused);
    if (unnamed.length > 0) await archive.delete(unnamed.map(({ key }) => key));
    removed += unused.length + unnamed.length;
    after = bytes.length === SWEEP_PAGE ? bytes.at(-1)?.key : undefined;
    if (after === undefined) break;
  }
  await archive.put(PLACE, after ?? "", { customMetadata: { after: after ?? "" } });
  return { cache: removed };
};
