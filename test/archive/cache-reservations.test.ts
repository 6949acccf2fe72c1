import { env } from "cloudflare:test";
import { beforeEach, expect, it } from "vitest";
import { deleteCache, deleteReservations, giveBack, listEntries, reserve } from "../../src/archive/cache.ts";
import { PERIODS } from "../../src/protocol/limits.ts";

const archive = env.ARCHIVE;
const NOW = Date.now();
const PERIOD_MS = PERIODS.cacheSavingMinutes * 60_000;
const PATH = "org/repo/pipeline/scope/key";

const of = (jobId: string, path = PATH, fence = 1) => ({ path, jobId, fence });
const keys = async () => (await archive.list({ prefix: "cachereserved/" })).objects.map(({ key }) => key);

beforeEach(async () => {
  await deleteCache(archive, "org/");
});

it("a reservation gives a key to one of 256 simultaneous requests", async () => {
  const asked = Array.from({ length: 256 }, (_, n) => reserve(archive, of(`job-${n}`), NOW));
  expect((await Promise.all(asked)).filter((isTaken) => isTaken)).toHaveLength(1);
});

it("an expired reservation passes to one other job after ten minutes, and never returns to its first holder", async () => {
  expect(await reserve(archive, of("dead"), NOW)).toBe(true);
  // An agent that lost the answer repeats the request. This does not extend the reservation.
  expect(await reserve(archive, of("dead"), NOW + PERIOD_MS - 1)).toBe(true);
  expect(await reserve(archive, of("dead", PATH, 2), NOW + PERIOD_MS - 1)).toBe(false);
  expect(await reserve(archive, of("next"), NOW + PERIOD_MS - 1)).toBe(false);
  expect(await reserve(archive, of("dead"), NOW + PERIOD_MS)).toBe(true);
  const others = ["next", "late"].map((job) => reserve(archive, of(job), NOW + PERIOD_MS));
  expect((await Promise.all(others)).sort()).toEqual([false, true]);
  expect(await reserve(archive, of("dead"), NOW + PERIOD_MS)).toBe(false);
});

it("only a key's holder can release it", async () => {
  await reserve(archive, of("a"), NOW);
  await giveBack(archive, of("b"));
  await giveBack(archive, of("a", PATH, 2));
  expect(await reserve(archive, of("b"), NOW)).toBe(false);
  await giveBack(archive, of("a"));
  await giveBack(archive, of("a"));
  expect(await reserve(archive, of("b"), NOW)).toBe(true);
});

/** The archive with pages of `limit` keys. */
const inPages = (limit: number): R2Bucket =>
  new Proxy(archive, {
    get: (bucket, name: keyof R2Bucket) =>
      name === "list"
        ? (options: R2ListOptions) => bucket.list({ ...options, limit })
        : (bucket[name] as () => unknown).bind(bucket),
  });

it("reservations do not add keys to the list of entries, and old ones are deleted", async () => {
  await Promise.all(Array.from({ length: 50 }, (_, n) => reserve(archive, of("liar", `${PATH}-${n}`), NOW)));
  expect(await listEntries(archive, "org/")).toEqual([]);
  expect(await deleteReservations(inPages(20), NOW - PERIOD_MS)).toBe(0);
  expect(await deleteReservations(inPages(20), Date.now() + PERIOD_MS)).toBe(50);
  await reserve(archive, of("a"), NOW);
  await deleteCache(archive, "org/repo/", { keepsMark: true });
  expect(await keys()).toEqual([]);
});
