import { env } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { poolName } from "../../../src/domain/durable-objects.ts";
import { CRONS, comingCrons, runCrons, type Upkeep } from "../../support/platform/crons.ts";
import type { Crossing, Effect } from "../../support/platform/crossing.ts";
import { fails, to } from "../../support/platform/effects.ts";
import { newPlatform } from "../../support/platform/platform.ts";
import { D1, OBJECT, R2 } from "../../support/platform/texts.ts";
import { NOW } from "./support.ts";

/** Each chore's key in a run's log line, and the minutes between its runs. */
const PERIODS = { archived: 10, cache: 60, reconciled: 60, recounted: 60 };

/** Collects the minutes in which each chore ran. */
const newRuns = () => {
  const minutes = Object.fromEntries(Object.keys(PERIODS).map((name) => [name, [] as number[]]));
  const note = (minute: number, dones: Upkeep[]) => {
    for (const [name, at] of Object.entries(minutes))
      at.push(...dones.filter((done) => name in done).map(() => minute));
  };
  return { minutes, note };
};

beforeEach(async () => {
  await env.DB.exec("DELETE FROM upkeep_failure");
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const MINUTES = 130;

it("runs each chore within twice its period, and never twice, with late, doubled and skipped crons", async () => {
  const cronsOfMinutes = fc.array(fc.constantFrom("once" as const, "once" as const, ...CRONS), {
    minLength: MINUTES,
    maxLength: MINUTES,
  });
  await fc.assert(
    fc.asyncProperty(cronsOfMinutes, async (crons) => {
      await env.DB.exec("DELETE FROM upkeep_failure");
      const runs = newRuns();
      for (const [minute, meant] of comingCrons(crons).entries()) {
        runs.note(minute, await runCrons(NOW, minute, meant));
      }
      for (const [name, period] of Object.entries(PERIODS)) {
        const at = [...(runs.minutes[name] ?? []), MINUTES];
        const gaps = at.map((minute, index) => minute - (at[index - 1] ?? 0));
        expect(Math.max(...gaps), `${name}: ${at}`).toBeLessThanOrEqual(2 * period);
        expect(Math.min(...gaps.slice(1, -1)), `${name}: ${at}`).toBeGreaterThanOrEqual(period - 1);
      }
    }),
    // Shrinking would take minutes and show nothing new.
    { numRuns: 1, endOnFailure: true },
  );
});

it("runs a chore within a period after its trouble ends, however long that lasted", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  const [trouble, minutes] = [33, 70];
  const during = { from: NOW, until: NOW + trouble * 60_000 };
  const platform = newPlatform();
  platform.trouble("ARCHIVE", fails(R2.internal), during);
  const asksForPools = ({ statements }: Crossing) => statements.some((text) => /FROM pool\s+WHERE \(active/.test(text));
  platform.trouble("DB", fails(D1.overloaded), { ...during, only: asksForPools });
  const minutesOf: Record<string, number[]> = { archived: [], pools: [] };
  for (let minute = 0; minute < minutes; minute++) {
    const [done] = await runCrons(NOW, minute);
    for (const [name, at] of Object.entries(minutesOf)) if (done && name in done) at.push(minute);
  }
  expect(minutesOf.archived?.[0]).toBeLessThanOrEqual(trouble + PERIODS.archived);
  expect(minutesOf.pools).toEqual(Array.from({ length: minutes - trouble }, (_, n) => trouble + n));
});

/** Creates an organization whose deletion has begun. */
const newLeaving = async (id: string) => {
  const columns = "(id, name, created_at, deleting_at)";
  await env.DB.prepare(`INSERT INTO organization ${columns} VALUES (?1, ?1, '', '2026-01-01T00:00:00.000Z')`)
    .bind(id)
    .run();
};

it("runs every chore, and removes a third organization, while one removal fails and another hangs", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  for (const id of ["hangs", "throws", "well"]) await newLeaving(id);
  const platform = newPlatform();
  const throwing = platform.trouble("AGENT_POOL", fails(OBJECT.lost), to(poolName("throws")));
  const silent: Effect = () => {
    // The share's own minute passes, and no other chore waits.
    queueMicrotask(() => vi.advanceTimersByTime(60_000));
    return new Promise(() => {});
  };
  const hanging = platform.trouble("AGENT_POOL", silent, to(poolName("hangs")));
  const runs = newRuns();
  for (let minute = 0; minute < 65; minute++) runs.note(minute, await runCrons(NOW, minute));
  expect(runs.minutes).toEqual({
    ...{ archived: [0, 10, 20, 30, 40, 50, 60] },
    ...{ cache: [0, 60], reconciled: [0, 60], recounted: [0, 60] },
  });
  // Each is tried after 1, 2, 4 ... minutes, instead of 32 times.
  expect([hanging.injected, throwing.injected]).toEqual([6, 6]);
  const { results } = await env.DB.prepare(
    "SELECT id FROM organization WHERE deleting_at IS NOT NULL ORDER BY id",
  ).all();
  expect(results).toEqual([{ id: "hangs" }, { id: "throws" }]);
  await env.DB.exec("DELETE FROM organization");
});
