import { expect, it } from "vitest";
import { RestoreScenario } from "../support/local/restore-scenario.ts";

/** `npm run drill -- restore` also restores each side alone. */
it("a restore of D1 and the pool from older files keeps every promise", { timeout: 180_000 }, async () => {
  const lines: string[] = [];
  const scenario = new RestoreScenario("both", (line) => lines.push(line));
  await scenario.run();
  expect(scenario.findings.length, lines.join("\n")).toBeGreaterThanOrEqual(8);
  expect(scenario.findings.filter(({ isRight }) => !isRight)).toEqual([]);
});
