import { env } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
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
