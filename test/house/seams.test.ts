import { expect, it } from "vitest";
import { type SourceFile, sourceFiles } from "./source-files.ts";

/** The bindings that lead to an organization's data, and the only files that may name each. */
const SEAMS: Record<string, string[]> = {
  "env.DB": ["src/db/database-of.ts", "src/services/upkeep"],
  AGENT_POOL: ["src/services/core/object-stubs.ts", "src/objects/pool-calls.ts"],
  BUILD_LOG: ["src/services/core/object-stubs.ts", "src/objects/pool/channels.ts"],
  GIT_HOST: ["src/services/core/object-stubs.ts", "src/objects/pool/channels.ts"],
};

const breaches = (files: SourceFile[]): string[] =>
  Object.entries(SEAMS).flatMap(([binding, allowed]) =>
    files
      .filter(({ path }) => !path.endsWith(".d.ts") && !allowed.some((beginning) => path.startsWith(beginning)))
      .filter(({ text }) => new RegExp(`\\b${binding.replace(".", "\\.")}\\b`).test(text))
      .map(({ path }) => `${path} names ${binding}`),
  );

it("only two functions choose an organization's database and pool", () => {
  expect(breaches(sourceFiles("src/**/*.{ts,tsx}"))).toEqual([]);
});

it("the check finds another file that chooses them", () => {
  const text = "await env.AGENT_POOL.getByName(orgId).sweep(); env.DB.prepare(query);";
  expect(breaches([{ path: "src/services/builds/builds.ts", text }])).toHaveLength(2);
});
