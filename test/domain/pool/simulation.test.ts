import { expect, it } from "vitest";
import { hunt, simulate } from "../../simulate/crew.ts";

/* A failing history is replayed with `npm run simulate -- --seed 1 --history I`. */
const SEED = 1;

it("holds every invariant through 20,000 hostile histories", { timeout: 300_000 }, async () => {
  const { histories, commands, faults, failures } = await simulate(SEED, 20_000);
  expect(failures).toEqual([]);
  expect(histories).toBe(20_000);
  expect(commands).toBeGreaterThan(2_000_000);
  expect(Object.keys(faults)).toHaveLength(24);
  for (const count of Object.values(faults)) expect(count).toBeGreaterThan(500);
});

it("finds each wrong rule within 1,000 histories", { timeout: 300_000 }, async () => {
  const hunts = await hunt(SEED, 1_000);
  expect(hunts.length).toBeGreaterThanOrEqual(18);
  expect(hunts.filter(({ caughtAfter }) => caughtAfter === null)).toEqual([]);
});
