import { join } from "node:path";
import { expect, it } from "vitest";
import { makeSampleRepository } from "../../../src/local/sample-repository.ts";
import { runAgentCli } from "../support/agent-cli.ts";
import { testFolder } from "../support/folder.ts";

it("leaves a report of three tests, which is an artifact too", async () => {
  const folder = testFolder();
  makeSampleRepository(folder);
  const args = ["run", ".millrace.yml", "--artifacts", join(folder, "kept")];
  const { code, stdout } = await runAgentCli(args, { cwd: join(folder, "sample") }).ended;
  expect(stdout).toContain("--- Test reports\ntests: 3 of 3 tests passed\n");
  expect(stdout).not.toContain("Warning");
  expect(code).toBe(0);
});
