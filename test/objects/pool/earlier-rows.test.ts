import { evictDurableObject } from "cloudflare:test";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import written from "../../releases/0.10.0/pools.json";
import { type EarlierPool, goOn, leftBehind, readAll } from "../earlier-rows.ts";

/** Sentences of 0.10.0, and today's wording. */
const REWORDED: readonly (readonly [RegExp | string, string])[] = [
  [/to run a job of a build of\sseveral/g, "to run planned jobs"],
  ["has to approve it.", "must approve it."],
  ["It waits for approval of its commit, by a person", "Its commit waits for approval by a person"],
  [/It waits for the end of (\w+)\./g, "It waits for $1 to end."],
  ["has what this build requires.", "meets these requirements."],
];

/* 0.10.0 wrote these rows and its own answers. 0.11.0 and 0.12.0 wrote the same. */
const POOLS: EarlierPool[] = JSON.parse(
  REWORDED.reduce((text, [earlier, now]) => text.replaceAll(earlier, now), JSON.stringify(written)),
);

beforeAll(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterAll(() => {
  vi.useRealTimers();
});

describe("a pool of 0.10.0", () => {
  it.each(POOLS.map((pool) => [pool.orgId, pool] as const))(
    "%s: reads its earlier rows, continues, and ends as expected",
    async (_name, kept) => {
      vi.setSystemTime(kept.at);
      const pool = await leftBehind(kept);
      await evictDurableObject(pool);
      expect(await readAll(pool, kept)).toMatchObject(kept.before);
      await goOn(pool, kept);
      await evictDurableObject(pool);
      expect(await readAll(pool, kept)).toMatchObject(kept.after);
      expect(await pool.deadLetters(0, 10)).toEqual([]);
    },
  );
});
