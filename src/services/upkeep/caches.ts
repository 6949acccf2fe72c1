import { sql } from "drizzle-orm";
import { CACHE_BYTES } from "../../archive/cache.ts";
import { ObjectStubs } from "../core/object-stubs.ts";
import { type Chore, isKept, type Upkeep } from "./run.ts";

/** Objects of a page, as R2 lists them, and pages of one run. */
const PAGE = 1000;
const PAGES = 20;
const TELL_MS = 10_000;

/** Where the count is: all before this key is counted, and of its organization so many bytes. */
interface Place {
  key: string;
  bytes: number;
}

const orgIn = (key: string): string => key.split("/")[1] ?? "";

/** Counts on from a place. `whole`: the organizations of which all was counted. */
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

/** Those of the organizations that are there, and stay. */
const listKept = async ({ db }: Upkeep, ids: string[]): Promise<Set<string>> => {
  const [{ results }] = await db.run(
    db.statement<{ id: string }>(sql`SELECT id FROM organization
      WHERE id IN (SELECT value FROM json_each(${JSON.stringify(ids)})) AND ${isKept(sql`organization.id`)}`),
  );
  return new Set(results.map(({ id }) => id));
};

/**
 * Counts the bytes of each organization's cache once a day and tells its pool, which knows only what was begun since.
 * The keys begin with the organization: of one it counts at a time.
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
