import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { poolTimes, readConfig, settingProblems } from "../../src/config.ts";

const withSettings = (changed: Partial<Env>) => ({ ...env, ...changed }) as Env;

describe("settings", () => {
  it.each([
    [{}],
    [{ LEASE_SECONDS: "20", HEARTBEAT_SECONDS: "1", START_SECONDS: "3", POLL_SECONDS: "5" }],
    [{ LEASE_SECONDS: "31", HEARTBEAT_SECONDS: "15" }],
    [{ LEASE_SECONDS: "200", HEARTBEAT_SECONDS: "89" }],
    [{ AUDIT_DAYS: "1", BUILD_DAYS: "7", AGENT_DAYS: undefined }],
    [{ ARTIFACT_ORIGIN: undefined }],
    [{ ARTIFACT_ORIGIN: "https://artifacts.example/", DASHBOARD_ORIGINS: "https://builds.example" }],
    [{ ARTIFACT_ORIGIN: "http://artifacts.localhost:8787" }],
  ])("accept %o", (changed) => {
    expect(settingProblems(withSettings(changed))).toEqual([]);
    expect(() => readConfig(withSettings(changed))).not.toThrow();
  });

  it.each([
    [
      { LEASE_SECONDS: "30" },
      ["LEASE_SECONDS (30) must be more than twice HEARTBEAT_SECONDS (15)", "set LEASE_SECONDS to 45 or more"],
    ],
    [
      { ARTIFACT_ORIGIN: "https://a.example", DASHBOARD_ORIGINS: "https://b.example, https://a.example" },
      ["ARTIFACT_ORIGIN is one of DASHBOARD_ORIGINS", "Give it a host of its own"],
    ],
    [{ ARTIFACT_ORIGIN: "artifacts.example" }, ["ARTIFACT_ORIGIN is missing or wrong."]],
    [{ ARTIFACT_ORIGIN: "https://artifacts.example/builds" }, ["ARTIFACT_ORIGIN is missing or wrong."]],
    [{ ARTIFACT_ORIGIN: "javascript:alert(1)" }, ["ARTIFACT_ORIGIN is missing or wrong."]],
    [{ LEASE_SECONDS: "200", HEARTBEAT_SECONDS: "90" }, ["HEARTBEAT_SECONDS (90) must be less than 90"]],
    [{ BUILD_DAYS: "0", POLL_SECONDS: "61" }, ["BUILD_DAYS is missing or wrong.", "POLL_SECONDS is missing or wrong."]],
  ])("reject %o and say what to set", (changed, sentences) => {
    const problems = settingProblems(withSettings(changed)).join(" ");
    for (const sentence of sentences) expect(problems).toContain(sentence);
    expect(() => readConfig(withSettings(changed))).toThrow();
  });

  it("give the pool its time limits", () => {
    const changed = { START_SECONDS: "10", LEASE_SECONDS: "40", AGENT_DAYS: "2", BUILD_DAYS: "7" };
    const day = 24 * 60 * 60 * 1000;
    expect(poolTimes(withSettings(changed))).toEqual({
      startMs: 10_000,
      leaseMs: 40_000,
      agentMs: 2 * day,
      runValuesMs: 7 * day,
    });
  });
});
