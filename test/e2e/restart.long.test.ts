import { expect, it } from "vitest";
import { restartUnder } from "../drill/restart.ts";

const AGENTS = 40;

/** `npm run drill -- restart` reports the calls per second. */
it("a service restart with 40 agents loses no lease, and all agents reconnect", { timeout: 240_000 }, async () => {
  const { calls, leasesLost } = await restartUnder(AGENTS, 4);
  expect(leasesLost).toBe(0);
  expect(calls).toBeGreaterThanOrEqual(AGENTS);
});
