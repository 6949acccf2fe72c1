import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../src/local/client.ts";
import { waitForEnd } from "../../src/local/demo.ts";
import type { Build } from "../../src/protocol/build.ts";
import { type RunningAgent, startAgent } from "../support/local/agent.ts";
import { connectRepository, makeRepository } from "../support/local/git-repository.ts";
import { type LocalService, startLocalService } from "../support/local/service.ts";

let service: LocalService;
let client: Client;
const agents: RunningAgent[] = [];

beforeAll(async () => {
  service = await startLocalService();
  client = await service.newOrganization("acme");
  for (const name of ["one", "two"]) agents.push(await startAgent(client, service.folder, name));
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.stop()));
  await service?.remove();
});

/** Returns a published package's files. This machine's npm client downloads them. */
const published = (name: string): Record<string, string> => {
  const folder = mkdtempSync(join(service.folder, "package-"));
  try {
    const file = execFileSync("npm", ["pack", name, "--silent"], { cwd: folder, encoding: "utf8", timeout: 120_000 });
    execFileSync("tar", ["xzf", file.trim()], { cwd: folder });
  } catch {
    throw new Error(`npm could not fetch ${name}: this test needs the npm registry that this machine is set up for`);
  }
  const root = join(folder, "package");
  const paths = globSync("**/*", { cwd: root, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    paths
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path.slice(root.length + 1), readFileSync(path, "utf8")]),
  );
};

/** Builds a repository with these files. Returns the build and its log. */
const build = async (files: Record<string, string>): Promise<{ build: Build; log: string }> => {
  const { id: repoId } = await connectRepository(client, makeRepository(service.folder, files));
  const { id } = await client.call<Build>("POST", `/repository/${repoId}/build`, { branch: "main" });
  const result = await waitForEnd(client, id);
  const headers = { Authorization: `Bearer ${client.token}` };
  return { build: result, log: await (await fetch(`${client.url}/build/${id}/log`, { headers })).text() };
};

/** These tests need the npm registry. `builds.test.ts` builds a C project without it. */
describe("a real repository", () => {
  it.concurrent("builds: a published package with its tests", { timeout: 180_000 }, async () => {
    const files = published("xtend@4.0.2");
    expect(Object.keys(files)).toContain("test.js");
    const { build: done, log } = await build({
      ...files,
      ".millrace.yml": `checkout: { depth: 0 }
steps:
  - name: Install
    run: npm install --no-audit --no-fund
  - name: Test \${{ repository.fullName }}
    run: npm test
`,
    });
    expect(done, log).toMatchObject({ status: "succeeded", steps: [{ exitCode: 0 }, { exitCode: 0 }] });
    expect(log).toMatch(/^# pass\s+[1-9]/m);
  });

  it.concurrent("builds: another package, whose pipeline counts its tests for the summary", {
    timeout: 180_000,
  }, async () => {
    const files = published("@fastify/error@4.2.1");
    expect(Object.keys(files)).toContain("test/index.test.js");
    const { build: done, log } = await build({
      ...files,
      ".millrace.yml": `steps:
  - name: Leave out what lint, types and benchmarks need
    run: npm pkg delete devDependencies.eslint devDependencies.neostandard devDependencies.tstyche devDependencies.benchmark
  - name: Install
    run: npm install --no-audit --no-fund
  - name: Test
    id: test
    run: |
      npx c8 node --test test/index.test.js | tee ../result
      echo "passed=$(sed -n 's/^.* pass //p' ../result)" >> "$MILLRACE_OUTPUT"
  - name: Tell
    run: echo "\${{ steps.test.outputs.passed }} tests" >> "$MILLRACE_SUMMARY"
`,
    });
    expect(done, log).toMatchObject({ status: "succeeded" });
    expect(done.summary).toMatch(/^[1-9]\d* tests\n$/);
  });
});
