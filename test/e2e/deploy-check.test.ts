import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkDeployment, type WranglerResult } from "../../src/local/deploy-check.ts";
import { ROOT } from "../../src/local/service.ts";

const SETTINGS = readFileSync(join(ROOT, "wrangler.toml"), "utf8");
const READY = SETTINGS.replace(/database_id = "[^"]*"/, 'database_id = "2b8f7c1e-0000-4000-8000-00000000000a"');
const NAMES = ["OPERATOR_TOKEN", "TOKEN_KEYS", "SECRETS_KEYS"];
const BUCKETS = "Listing buckets...\nname:           millrace-archive\ncreation_date:  2026-11-22T00:00:00.000Z\n";
const secrets = (names: string[]) => JSON.stringify(names.map((name) => ({ name, type: "secret_text" })));

/** Returns the missing parts. `answers` replaces wrangler's output for a complete deployment. */
const missing = async (settings: string, answers: Record<string, Partial<WranglerResult>> = {}): Promise<string[]> => {
  const usual: Record<string, string> = {
    r2: BUCKETS,
    d1: "✅ No migrations to apply!",
    secret: `banner\n${secrets(NAMES)}`,
  };
  const findings = await checkDeployment(settings, async (command = "") => {
    return { isOk: true, output: usual[command] ?? "", ...answers[command] };
  });
  return findings.filter(({ isOk }) => !isOk).map(({ what, fix }) => `${what}: ${fix}`);
};

describe("the check before a deployment", () => {
  it("finds nothing missing where nothing is", async () => {
    expect(await missing(READY)).toEqual([]);
  });

  it.each([
    ["the database", SETTINGS, {}, /names a database: npx wrangler d1 create/],
    [
      "settings that contradict each other",
      READY.replace('LEASE_SECONDS = "60"', 'LEASE_SECONDS = "30"'),
      {},
      /fit together: LEASE_SECONDS \(30\) must be more than twice HEARTBEAT_SECONDS \(15\).* set LEASE_SECONDS to 45/,
    ],
    ["a setting that is left out", READY.replace(/^BUILD_DAYS.*$/m, ""), {}, /BUILD_DAYS is missing or wrong/],
    ["two rate limits that differ", READY.replace("limit = 600", "limit = 700"), {}, /has the same rate limits/],
    [
      "the limit of an organization's requests",
      READY.replace("ORGANIZATION_RATE", "OTHER"),
      {},
      /counts the requests of each organization: copy/,
    ],
    ["an account", READY, { whoami: { output: "You are not authenticated." } }, /signed in: npx wrangler login/],
    [
      "the bucket",
      READY,
      { r2: { output: "name:           another" } },
      /bucket millrace-archive exists: npx wrangler r2 bucket create/,
    ],
    ["a bundle", READY, { deploy: { isOk: false } }, /can be bundled/],
    ["a migration", READY, { d1: { output: "Migrations to be applied: 0001" } }, /migrations apply millrace --remote/],
    [
      "one secret",
      READY,
      { secret: { output: secrets(NAMES.slice(1)) } },
      /OPERATOR_TOKEN is set: npm run --silent keys/,
    ],
    [
      "the Worker's secrets at all",
      READY,
      { secret: { isOk: false, output: "not found [code: 10007]" } },
      /OPERATOR_TOKEN/,
    ],
  ])("names %s, and how to fix it", async (_, settings, answers, said) => {
    expect((await missing(settings, answers)).join("\n")).toMatch(said);
  });
});
