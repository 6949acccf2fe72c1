import { env } from "cloudflare:workers";
import { vi } from "vitest";
import worker from "../../../src/worker.ts";

const MINUTE_MS = 60_000;

/** How the cron trigger of a minute arrives: normally, twice at once, a minute late, or never. */
export const CRONS = ["once", "twice", "late", "none"] as const;
export type Cron = (typeof CRONS)[number];

/** Returns, for each minute, the minutes whose triggers arrive in it. */
export const comingCrons = (crons: readonly Cron[]): number[][] =>
  crons.map((how, minute) => {
    const late = crons[minute - 1] === "late" ? [minute - 1] : [];
    const times = { once: 1, twice: 2, late: 0, none: 0 }[how];
    return [...late, ...Array<number>(times).fill(minute)];
  });

/** The counts that a run of upkeep reports. */
export type Upkeep = Record<string, number>;

/**
 * Runs the triggers that arrive in a minute after `begin`, at once, as the platform does: each gets the minute for
 * which it was meant. Sets the clock. @returns the reports of the successful ones
 */
export const runCrons = async (
  begin: number,
  minute: number,
  meant: readonly number[] = [minute],
): Promise<Upkeep[]> => {
  vi.setSystemTime(begin + minute * MINUTE_MS + 40);
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  const runs = meant.map((of) => {
    const controller = { scheduledTime: begin + of * MINUTE_MS, cron: "* * * * *" } as ScheduledController;
    return worker.scheduled(controller, env as Env);
  });
  await Promise.allSettled(runs);
  const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)) as { done?: Upkeep });
  log.mockRestore();
  return lines.map(({ done }) => done).filter((done) => done !== undefined);
};
