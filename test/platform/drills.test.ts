import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { writeOldRows } from "../support/old-rows.ts";
import { runCrons } from "../support/platform/crons.ts";
import { addsRows, fails } from "../support/platform/effects.ts";
import { newPlatform } from "../support/platform/platform.ts";
import { D1 } from "../support/platform/texts.ts";
import { count, DAY_MS, NOW } from "../upkeep/support.ts";

/* The drills of docs/operations.md, "When a goal is missed". */

beforeEach(async () => {
  await env.DB.exec("DELETE FROM upkeep_failure");
  await env.DB.exec("DELETE FROM pool");
  vi.useFakeTimers({ toFake: ["Date"], now: NOW });
  vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("a database that is full", () => {
  it("loses its old rows by upkeep, also in a deployment whose upkeep never ran", async () => {
    await writeOldRows(env.DB, { orgId: "full", until: NOW - 500 * DAY_MS, builds: 50, audit: 50 });
    const platform = newPlatform();
    const full = platform.trouble("DB", fails(D1.full), { only: addsRows });
    await runCrons(NOW, 0);
    expect(await count("build_summary", "org_id = 'full'")).toBe(0);
    expect(await count("audit_log", "org_id = 'full'")).toBe(0);
    expect(full.injected).toBeGreaterThan(0);
  });
});
