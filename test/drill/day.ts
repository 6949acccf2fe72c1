import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { D1, R2 } from "../support/platform/texts.ts";
import { Day } from "./day/day.ts";
import { find, print } from "./day/findings.ts";
import { type DayPlan, HOUR, MINUTE } from "./day/plan.ts";
import { bundleDay } from "./day/planted.ts";

const OVERLOADED = D1.overloaded;
const AWAY = R2.internal;

/** 200 people, 500 pipelines, 5,000 builds. */
export const WHOLE: DayPlan = {
  ...{ from: 0, until: 24 * HOUR },
  ...{ people: 200, agents: 300, repositories: [100, ...Array<number>(100).fill(4)] },
  ...{ pushes: 1_240, pulls: 5, calls: 300, pages: 2_000 },
  loop: { from: 11 * HOUR, until: 12 * HOUR, perMinute: 60, buildsPerDay: 1_000 },
  faults: [
    { part: "DB", from: 10 * HOUR, until: 10 * HOUR + 20 * MINUTE, message: OVERLOADED, of: 20, fail: 19 },
    { part: "ARCHIVE", from: 14 * HOUR, until: 15 * HOUR, message: AWAY, of: 1, fail: 1 },
  ],
  resets: [
    { at: 10 * HOUR + 10 * MINUTE, binding: "GIT_HOST" },
    { at: 12 * HOUR + 7 * MINUTE, binding: "AGENT_POOL" },
    { at: 14 * HOUR + 30 * MINUTE, binding: "AGENT_POOL" },
  ],
  crons: { none: [16 * 60, 17 * 60, 18 * 60, 19 * 60], twice: [8 * 60, 13 * 60 + 20], late: [9 * 60 + 10, 20 * 60] },
};

/** Three hours with a fiftieth of the builds. */
export const SMALL: DayPlan = {
  ...WHOLE,
  ...{ from: 9 * HOUR, until: 12.5 * HOUR },
  faults: [
    { part: "DB", from: 10 * HOUR, until: 10 * HOUR + 20 * MINUTE, message: OVERLOADED, of: 20, fail: 19 },
    { part: "ARCHIVE", from: 10.5 * HOUR, until: 11 * HOUR, message: AWAY, of: 1, fail: 1 },
  ],
  resets: [
    { at: 10 * HOUR + 10 * MINUTE, binding: "GIT_HOST" },
    { at: 10 * HOUR + 40 * MINUTE, binding: "AGENT_POOL" },
  ],
  crons: { none: [11 * 60, 12 * 60], twice: [11 * 60 + 40], late: [11 * 60 + 50] },
  ...{ people: 4, agents: 6, repositories: [10, 4, 4] },
  ...{ pushes: 25, pulls: 1, calls: 6, pages: 40 },
  loop: { from: 11 * HOUR, until: 11 * HOUR + 10 * MINUTE, perMinute: 12, buildsPerDay: 20 },
};

export const drill = async (): Promise<boolean> => {
  const begun = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "millrace-day-"));
  const day = await Day.begin(WHOLE, await bundleDay(folder));
  try {
    await day.pass((line) => console.log(`after ${((performance.now() - begun) / 1000).toFixed(0)} s: ${line}`));
    const found = await find(day);
    print(day, found);
    return found.wrong.length === 0;
  } finally {
    await day.end();
    rmSync(folder, { recursive: true, force: true });
  }
};
