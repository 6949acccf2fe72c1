import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";
import { poolName } from "../../src/domain/durable-objects.ts";
import { DAY_MS, NOW } from "../services/upkeep/support.ts";
import { writeOldRows } from "../support/old-rows.ts";
import { runCrons } from "../support/platform/crons.ts";
import { newOrganizations } from "../support/platform/organizations.ts";
import { newPlatform } from "../support/platform/platform.ts";

/* The long drills of docs/operations.md. */

/** A Worker's limit in one invocation, and D1's limit on a paid plan. */
const SUBREQUESTS = 10_000;
const STATEMENTS = 1_000;

afterEach(() => {
  vi.useRealTimers();
});

it("upkeep of 1,000 organizations with everything due at once stays within the platform's limits and finishes in five minutes", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW });
  const old = { orgId: "old", until: NOW - 500 * DAY_MS };
  await writeOldRows(env.DB, { ...old, builds: 21_000, audit: 21_000, uses: 21_000 });
  const orgIds = await newOrganizations(1_000, NOW);
  const platform = newPlatform();
  const swept = new Set<string>();
  platform.trouble("AGENT_POOL", (proceed) => proceed(), {
    only: ({ method, name }) => method === "sweep" && swept.add(name) !== undefined,
  });
  for (let minute = 0; minute < 5; minute++) {
    const { value: runs, asked } = await platform.counting(() => runCrons(NOW, minute));
    expect(runs).toMatchObject([{ failed: 0, pools: 200, reconciled: 100, histories: 150 }]);
    if (minute === 0) expect(runs).toMatchObject([{ recounted: 50, builds: 20_000, audit: 20_000, uses: 20_000 }]);
    expect(asked.statements).toBeGreaterThan(minute === 0 ? 700 : 450);
    expect(asked.statements).toBeLessThan(STATEMENTS);
    expect(asked.rounds + asked.calls.length).toBeLessThan(SUBREQUESTS / 10);
  }
  expect([...swept].sort()).toEqual(orgIds.map(poolName));
});
