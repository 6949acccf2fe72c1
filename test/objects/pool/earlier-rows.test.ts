import { evictDurableObject } from "cloudflare:test";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import written from "../../releases/0.10.0/pools.json";
import { type EarlierPool, goOn, leftBehind, readAll } from "../earlier-rows.ts";

/* 0.10.0 wrote these rows and its own answers. 0.11.0 and 0.12.0 wrote the same. One sentence is new. */
const POOLS: EarlierPool[] = JSON.parse(
  JSON.stringify(written).replaceAll("to run a job of a build of several", "to run planned jobs"),
);

beforeAll(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterAll(() => {
  vi.useRealTimers();
});

describe("a pool of 0.10.0", () => {
  it.each(POOLS.map((pool) => [pool.orgId, pool] as const))(
    "%s: is read as it was, goes on, and ends as it would have",
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
