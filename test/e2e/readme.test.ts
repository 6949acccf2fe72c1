import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Client } from "../../src/local/client.ts";
import { waitForEnd } from "../../src/local/demo.ts";
import type { Build } from "../../src/protocol/build.ts";
import { type RunningAgent, startAgent } from "../support/local/agent.ts";
import { startDevelopmentService } from "../support/local/development-service.ts";
import { connectRepository, makeRepository } from "../support/local/git-repository.ts";

let service: Awaited<ReturnType<typeof startDevelopmentService>>;
let client: Client;
let agent: RunningAgent;

beforeAll(async () => {
  service = await startDevelopmentService();
  client = await service.newOrganization("acme");
  agent = await startAgent(client, service.folder, "readme");
  const git = makeRepository(service.folder, { ".millrace.yml": "steps:\n  - run: echo from the readme\n" });
  const repository = await connectRepository(client, git);
  const { id } = await client.call<Build>("POST", `/repository/${repository.id}/build`, { branch: "main" });
  expect(await waitForEnd(client, id)).toMatchObject({ status: "succeeded" });
  mkdirSync(join(service.folder, ".millrace"));
  writeFileSync(
    join(service.folder, ".millrace/local.json"),
    JSON.stringify({ url: client.url, orgId: "acme", token: client.token }),
  );
});
afterAll(async () => {
  await agent?.stop();
  await service?.remove();
});

it("every command of the README's API tour works, in order", async () => {
  const readme = readFileSync("README.md", "utf8");
  const tour = readme.slice(readme.indexOf("## The API in ten minutes"), readme.indexOf("## How it compares"));
  const blocks = [...tour.matchAll(/^```sh\n(.*?)^```/gms)].map((match) => match[1] ?? "");
  expect(blocks.length).toBeGreaterThanOrEqual(7);
  const script = `set -euo pipefail\n${blocks.join("\necho\n")}`;
  const { stdout } = await promisify(execFile)("bash", ["-c", script], { cwd: service.folder });
  expect(stdout).toContain("from the readme");
  expect(stdout).toContain('"value":"https://canary.example"');
  expect(stdout).not.toContain("s3cr3t-value");
});
