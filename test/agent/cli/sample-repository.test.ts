import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { makeSampleRepository } from "../../../src/local/sample-repository.ts";
import { runAgentCli } from "../support/agent-cli.ts";
import { testFolder } from "../support/folder.ts";

it("the sample repository is created regardless of the developer's hooks for all repositories", () => {
  const folder = testFolder();
  const hooks = join(folder, "hooks");
  mkdirSync(hooks);
  writeFileSync(join(hooks, "pre-commit"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  writeFileSync(join(folder, "config"), `[core]\n\thooksPath = ${hooks}\n[commit]\n\tgpgSign = true\n`);
  const before = process.env.GIT_CONFIG_GLOBAL;
  process.env.GIT_CONFIG_GLOBAL = join(folder, "config");
  onTestFinished(() => {
    if (before === undefined) delete process.env.GIT_CONFIG_GLOBAL;
    else process.env.GIT_CONFIG_GLOBAL = before;
  });
  expect(makeSampleRepository(folder)).toBe(`file://${join(folder, "sample.git")}`);
});

it("the sample repository leaves a report of three tests, which is also an artifact", async () => {
  const folder = testFolder();
  makeSampleRepository(folder);
  const args = ["run", ".millrace.yml", "--artifacts", join(folder, "kept")];
  const { code, stdout } = await runAgentCli(args, { cwd: join(folder, "sample") }).ended;
  expect(stdout).toContain("--- Test reports\ntests: 3 of 3 tests passed\n");
  expect(stdout).not.toContain("Warning");
  expect(code).toBe(0);
});
