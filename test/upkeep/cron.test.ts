import { env } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { poolName } from "../../src/domain/object-names.ts";
import worker from "../../src/worker.ts";
import { NOW } from "./support.ts";

const MINUTE_MS = 60_000;
/** What the log's line of a run says where the chore ran, and the minutes from one run of it to the next. */
const PERIODS = { archived: 10, cache: 60, reconciled: 60, recounted: 60 };

/** Runs the crons that come in a minute, at once, each with the minute for which it was meant. @returns what they log */
const runCrons = async (minute: number, meant: number[], change: Partial<Env> = {}) => {
  vi.setSystemTime(NOW + minute * MINUTE_MS + 40);
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  const controllers = meant.map((of) => ({ scheduledTime: NOW + of * MINUTE_MS, cron: "* * * * *" }));
  await Promise.all(
    controllers.map((controller) => worker.scheduled(controller as ScheduledController, { ...env, ...change } as Env)),
  );
  const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)) as { upkeep?: Record<string, number> });
  log.mockRestore();
  return lines.map(({ upkeep }) => upkeep).filter((done) => done !== undefined);
};

/** The minutes in which each chore ran. */
const newRuns = () => {
  const minutes = Object.fromEntries(Object.keys(PERIODS).map((name) => [name, [] as number[]]));
  const note = (minute: number, dones: Record<string, number>[]) => {
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

/** How the cron of a minute comes: as it should, twice at once, a minute late, or never. */
const CRONS = ["once", "once", "once", "twice", "late", "none"] as const;
const MINUTES = 130;

it("is never later with a chore than twice its period, nor does one twice, whatever crons are late, doubled or skipped", async () => {
  const cronsOfMinutes = fc.array(fc.constantFrom(...CRONS), { minLength: MINUTES, maxLength: MINUTES });
  await fc.assert(
    fc.asyncProperty(cronsOfMinutes, async (crons) => {
      await env.DB.exec("DELETE FROM upkeep_failure");
      const runs = newRuns();
      for (const [minute, how] of crons.entries()) {
        const late = crons[minute - 1] === "late" ? [minute - 1] : [];
        const times = { once: 1, twice: 2, late: 0, none: 0 }[how];
        runs.note(minute, await runCrons(minute, [...late, ...Array<number>(times).fill(minute)]));
      }
      for (const [name, period] of Object.entries(PERIODS)) {
        const at = [...(runs.minutes[name] ?? []), MINUTES];
        const gaps = at.map((minute, index) => minute - (at[index - 1] ?? 0));
        expect(Math.max(...gaps), `${name}: ${at}`).toBeLessThanOrEqual(2 * period);
        expect(Math.min(...gaps.slice(1, -1)), `${name}: ${at}`).toBeGreaterThanOrEqual(period - 1);
      }
    }),
    // A smaller case says nothing more, and takes minutes to find.
    { numRuns: 1, endOnFailure: true },
  );
});

/** An organization that is being deleted. */
const newLeaving = async (id: string) => {
  const columns = "(id, name, created_at, deleting_at)";
  await env.DB.prepare(`INSERT INTO organization ${columns} VALUES (?1, ?1, '', '2026-01-01T00:00:00.000Z')`)
    .bind(id)
    .run();
};

it("does every chore while one organization cannot be removed and another one hangs, and removes a third", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  for (const id of ["hangs", "throws", "well"]) await newLeaving(id);
  const asked = { hangs: 0, throws: 0 };
  const hang = () => {
    asked.hangs += 1;
    // The share's own minute passes, and no other chore waits for anything.
    queueMicrotask(() => vi.advanceTimersByTime(60_000));
    return new Promise(() => {});
  };
  const fail = () => {
    asked.throws += 1;
    return Promise.reject(new Error("Network connection lost."));
  };
  const away = new Map([
    [poolName("hangs"), new Proxy({}, { get: () => hang })],
    [poolName("throws"), new Proxy({}, { get: () => fail })],
  ]);
  const pools = { getByName: (name: string) => away.get(name) ?? env.AGENT_POOL.getByName(name) };
  const runs = newRuns();
  for (let minute = 0; minute < 65; minute++) {
    runs.note(minute, await runCrons(minute, [minute], { AGENT_POOL: pools as unknown as typeof env.AGENT_POOL }));
  }
  expect(runs.minutes).toEqual({
    ...{ archived: [0, 10, 20, 30, 40, 50, 60] },
    ...{ cache: [0, 60], reconciled: [0, 60], recounted: [0, 60] },
  });
  // Each is tried after 1, 2, 4 ... minutes, and not 32 times.
  expect(asked).toEqual({ hangs: 6, throws: 6 });
  const { results } = await env.DB.prepare(
    "SELECT id FROM organization WHERE deleting_at IS NOT NULL ORDER BY id",
  ).all();
  expect(results).toEqual([{ id: "hangs" }, { id: "throws" }]);
  await env.DB.exec("DELETE FROM organization");
});
