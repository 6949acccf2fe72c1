import { expect, it } from "vitest";
import { RestoreScenario, SIDES } from "../support/local/restore-scenario.ts";

it.each(SIDES)("a restore of %s from older files keeps every promise", { timeout: 180_000 }, async (side) => {
  const lines: string[] = [];
  const scenario = new RestoreScenario(side, (line) => lines.push(line));
  await scenario.run();
  expect(scenario.findings.length, lines.join("\n")).toBeGreaterThanOrEqual(8);
  expect(scenario.findings.filter(({ isRight }) => !isRight)).toEqual([]);
});
