import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { Day } from "../drill/day/day.ts";
import { type Findings, find } from "../drill/day/findings.ts";
import { bundleDay, PLANTED, type Planted } from "../drill/day/planted.ts";
import { SMALL } from "../drill/day.ts";

const folder = mkdtempSync(join(tmpdir(), "millrace-day-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pass = async (planted?: Planted): Promise<Findings> => {
  const day = await Day.begin(SMALL, await bundleDay(folder, planted));
  try {
    await day.pass(() => {});
    return await find(day);
  } finally {
    await day.end();
  }
};

/* `npm run drill -- day` simulates a day with 5,000 builds. */
it("a day with D1 overloaded, R2 unavailable and a looping tenant loses and delays no build", async () => {
  const found = await pass();
  expect(found.wrong, JSON.stringify(found, null, 1)).toEqual([]);
  expect(found.builds.wanted).toBeGreaterThan(100);
  expect(found.loop).toMatchObject({ made: SMALL.loop.buildsPerDay, refused: { "429 limit-reached": 100 } });
});

it.each(Object.entries(PLANTED))("the same day detects that %s", async (_, planted) => {
  const { wrong } = await pass(planted);
  expect(wrong).not.toEqual([]);
});
