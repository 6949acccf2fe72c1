import { expect, it } from "vitest";
import { restartUnder } from "../drill/restart.ts";

const AGENTS = 40;

it("a restart under 40 agents loses no lease, and they do not come back in step", { timeout: 240_000 }, async () => {
  const { peak, calls, leasesLost } = await restartUnder(AGENTS, 4);
  expect(leasesLost).toBe(0);
  expect(calls).toBeGreaterThanOrEqual(AGENTS);
  // In step they would be 40 sockets and as many polls in one second.
  expect(peak).toBeLessThan(AGENTS);
});
