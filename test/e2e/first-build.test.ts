import { execFile } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Client } from "../../src/local/client.ts";
import { startDevelopmentService } from "../support/local/development-service.ts";
import { makeRepository } from "../support/local/git-repository.ts";

let service: Awaited<ReturnType<typeof startDevelopmentService>>;
let client: Client;

beforeAll(async () => {
  service = await startDevelopmentService();
  client = await service.newOrganization("acme");
});
afterAll(() => service?.remove());

it("every command of docs/first-build.md works, in order", async () => {
  const host = makeRepository(service.folder, { "README.md": "a shop\n" });
  host.git("config", "receive.denyCurrentBranch", "updateInstead");
  const mine = join(service.folder, "shop");
  host.git("clone", "--quiet", host.cloneUrl, mine);
  const page = readFileSync("docs/first-build.md", "utf8");
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```/gms)].map((match) => match[1] ?? "");
  expect(blocks).toHaveLength(6);
  const home = join(service.folder, "home");
  mkdirSync(home);
  const identity = { GIT_AUTHOR_NAME: "T", GIT_AUTHOR_EMAIL: "t@t.invalid" };
  const { stdout, stderr } = await promisify(execFile)("bash", ["-c", `set -euo pipefail\n${blocks.join("\n")}`], {
    cwd: mine,
    env: {
      ...{ PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: home, NO_COLOR: "1" },
      ...{ URL: client.url, TOKEN: client.token, REPOSITORY: host.cloneUrl },
      ...{ ...identity, GIT_COMMITTER_NAME: "T", GIT_COMMITTER_EMAIL: "t@t.invalid" },
    },
  });
  expect(stderr).toContain("has no mistakes");
  expect(stdout).toContain('"code":"next"');
  expect(stdout).toMatch(/Building main at [0-9a-f]{40}\nREADME\.md/);
  expect(stdout).toMatch(/^succeeded$/m);
  expect(stdout).toContain("the key is ***");
  expect(stdout).not.toContain("correct horse");
});
