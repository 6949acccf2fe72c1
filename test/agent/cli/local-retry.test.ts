import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeHooks } from "../hooks/support/hooks.ts";
import { runAgentCli } from "../support/agent-cli.ts";
import { testFolder } from "../support/folder.ts";
import { waitUntil } from "../support/wait-until.ts";

const write = (steps: string): string => {
  const folder = testFolder();
  writeFileSync(join(folder, "p.yml"), steps);
  return folder;
};

describe("run FILE of steps with retry", () => {
  it("retries, extends PATH, and runs no hooks", async () => {
    const folder = write(`steps:
  - retry: { times: 2, on: [4] }
    run: |
      echo /from-try >> "$MILLRACE_PATH"
      [ -e been ] || { touch been; exit 4; }
      mkdir bin; printf '#!/bin/sh\\necho found\\n' > bin/tool; chmod +x bin/tool
      echo "$PWD/bin" >> "$MILLRACE_PATH"
  - run: |
      tool; echo "$PATH" | tr : '\\n' | grep -c /from-try
`);
    const home = testFolder();
    for (const state of [join(home, ".millrace"), join(folder, ".millrace/agent")])
      writeHooks(state, { "before-job": `touch ${folder}/hooked`, "after-job": `touch ${folder}/hooked` });
    const { code, stdout } = await runAgentCli(["run", "p.yml"], { cwd: folder, env: { HOME: home } }).ended;
    expect(stdout).toContain("The step ended with exit code 4\n--- try 2 of 3\n");
    expect(stdout).toContain("\nfound\n1\n");
    expect(code).toBe(0);
    expect(existsSync(join(folder, "hooked"))).toBe(false);
  });

  it("stops waiting for the next attempt when the person interrupts it", async () => {
    const folder = write("steps: [{ retry: { times: 1, wait-seconds: 3600 }, run: exit 1 }]\n");
    const run = runAgentCli(["run", "p.yml"], { cwd: folder });
    await waitUntil(() => run.output().includes("Waiting 3600 s before the next try"));
    run.kill("SIGINT");
    expect((await run.ended).code).toBe(130);
  });
});
