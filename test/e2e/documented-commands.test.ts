import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Client } from "../../src/local/client.ts";
import type { Build } from "../../src/protocol/build.ts";
import type { Connection } from "../../src/protocol/connection.ts";
import type { Pipeline } from "../../src/protocol/pipeline.ts";
import { newAppKeys } from "../support/app-keys.ts";
import { PAGES, RUN_ELSEWHERE, type Script, scriptsOf } from "../support/documented-commands.ts";
import { TestGitHost } from "../support/local/git-host/git-host.ts";
import { connectRepository, makeRepository } from "../support/local/git-repository.ts";
import { type LocalService, startLocalService } from "../support/local/service.ts";

/** Programs that cannot run here, and why. A stand-in prints a line and succeeds. */
const STAND_INS: Record<string, string> = {
  brew: "is a program of macOS",
  launchctl: "is a program of macOS",
  npm: "installs, or runs a script: test/house/commands.test.ts checks its name and words",
  npx: "wrangler needs an account at Cloudflare, and vitest would run the tests inside a test",
  pbpaste: "is a program of macOS",
  scutil: "is a program of macOS",
  sudo: "changes the machine",
  systemctl: "changes the machine",
};

/** Requests that only Cloudflare answers with success. */
const ONLY_AT_CLOUDFLARE = "/operator/pool/restore";

const PRELUDE = `set -euo pipefail
${Object.keys(STAND_INS)
  .map((name) => `${name}() { head -n 1 stdin; }`)
  .join("\n")}
curl() {
  case "$*" in
    *${ONLY_AT_CLOUDFLARE}) command curl "$@" ;;
    *) command curl --fail "$@" ;;
  esac
}
api() { curl -sS -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; }
id() { if [ $# = 0 ]; then node -p 'JSON.parse(require("fs").readFileSync(0)).id'; else command id "$@"; fi; }
exec < stdin
`;

const WORKFLOW = "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo tested\n";
const PIPELINE_FILE = "steps:\n  - run: echo from the page\n";

const scripts = PAGES.filter((page) => !(page in RUN_ELSEWHERE)).flatMap((page) => scriptsOf(page));
const { key, publicKey } = newAppKeys();
let service: LocalService;
let hosts: Record<Connection["kind"], TestGitHost>;

beforeAll(async () => {
  service = await startLocalService();
  const [github, gitlab, gitea] = await Promise.all(
    (["github", "gitlab", "gitea"] as const).map((kind) => TestGitHost.start(kind, service.folder)),
  );
  hosts = { github, gitlab, gitea } as typeof hosts;
  hosts.github.api.settings.app = { id: 4242, clientId: "Iv23client", publicKey, installationId: 99, account: "acme" };
  hosts.github.addRepository("acme/shop");
  hosts.gitlab.addRepository("acme/mobile/shop");
  hosts.gitea.addRepository("acme/shop");
});
afterAll(async () => {
  await Promise.all(Object.values(hosts ?? {}).map((host) => host.close()));
  await service?.remove();
});

/** Creates the records that pages name with variables: a pipeline, a queued build, a connection and its delivery. */
const recordsOf = async (client: Client): Promise<Record<string, string>> => {
  const git = makeRepository(service.folder, { ".millrace.yml": PIPELINE_FILE });
  const repository = await connectRepository(client, git);
  const pipeline = await client.call<Pipeline>("POST", "/pipeline", { repoId: repository.id, name: "shop" });
  const build = await client.call<Build>("POST", "/build", { pipelineId: pipeline.id, branch: "main" });
  return { REPO: repository.id, PIPELINE: pipeline.id, BUILD: build.id };
};

/** Connects a Gitea that delivers a push, and returns the connection and the delivery. */
const deliveryOf = async (client: Client): Promise<Record<string, string>> => {
  const { gitea } = hosts;
  const path = { kind: "gitea", name: "Gitea", webUrl: gitea.url, token: gitea.secrets.token };
  const { id } = await client.call<Connection>("POST", "/connection", path);
  const bare = gitea.addRepository("acme/pushed");
  await client.call("POST", `/connection/${id}/repository`, { hostRepoId: bare.id });
  await gitea.push(makeRepository(service.folder, {}), bare, "main");
  const list = () => client.call<{ id: string }[]>("GET", `/connection/${id}/delivery`);
  const [delivery] = await vi.waitFor(
    async () => {
      const deliveries = await list();
      expect(deliveries).not.toEqual([]);
      return deliveries;
    },
    { timeout: 60_000, interval: 200 },
  );
  return { CONNECTION: id, DELIVERY: delivery?.id ?? "" };
};

/** Returns a script with the addresses, tokens and names of this test. */
const localized = (text: string, organization: string, token: string): string =>
  [
    ["https://millrace.example", service.url],
    // As root it would write a unit of this machine.
    ["install --write", "install"],
    ["mrt_...", token],
    ["mro_6Zk…", service.vars.OPERATOR_TOKEN ?? ""],
    ["https://codeberg.org", hosts.gitea.url],
    ["https://gitlab.com", hosts.gitlab.url],
    // A connection by hand does not call its host.
    ['"https://github.com", "token"', `"${hosts.github.url}", "token"`],
    ['"https://github.com", app', `"${hosts.github.url}", app`],
    ["github_pat_...", hosts.github.secrets.token],
    ["glpat-...", hosts.gitlab.secrets.token],
    ['"token": "..."', `"token": "${hosts.gitea.secrets.token}"`],
    ["organization/acme", `organization/${organization}`],
    ['"id":"acme"', `"id":"${organization}"`],
    ["orgId=acme", `orgId=${organization}`],
    ['"orgId": "acme"', `"orgId": "${organization}"`],
    ['"orgId":"acme"', `"orgId":"${organization}"`],
  ].reduce((changed, [from = "", to = ""]) => changed.replaceAll(from, to), text);

/** Creates the folder in which a script begins, with the files that its page assumes. */
const folderFor = (organization: string, stdin: string): string => {
  const folder = join(service.folder, organization);
  mkdirSync(join(folder, ".github/workflows"), { recursive: true });
  mkdirSync(join(folder, "home/.millrace"), { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, ".github/workflows/ci.yml"), WORKFLOW);
  writeFileSync(join(folder, "dist.p12"), "a certificate");
  writeFileSync(join(folder, "millrace-acme.pem"), key);
  writeFileSync(join(folder, "stdin"), stdin, { mode: 0o600 });
  copyFileSync(join(folder, "stdin"), join(folder, "token"));
  for (const program of ["agent.mjs", "importer.mjs"])
    copyFileSync(join("dist/assets", program), join(folder, program));
  return folder;
};

/** Returns whether a page begins with a pipeline file. The importer's page writes one. */
const hasFile = (page: string): boolean => page !== "docs/import.md";

/** Runs a page's blocks in one shell, as its reader would. Programs for a file of their own are only parsed. */
const run = async ({ page, blocks }: Script, index: number) => {
  const organization = `page-${index}`;
  const createsIt = page === "docs/deploy.md";
  const client = await service.newOrganization(createsIt ? `${organization}-other` : organization);
  const token = await client.call<{ token: string }>("POST", "/token", {
    ...{ name: "agents", kind: "registration", labels: ["docker", "big", "untrusted"] },
  });
  const folder = folderFor(organization, `${createsIt ? service.vars.OPERATOR_TOKEN : token.token}\n`);
  if (hasFile(page)) writeFileSync(join(folder, ".millrace.yml"), PIPELINE_FILE);
  const env = {
    ...{
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      HOME: join(folder, "home"),
      USER: "ci",
      NO_COLOR: "1",
    },
    ...{ URL: service.url, TOKEN: client.token },
    ...{ OPERATOR_TOKEN: service.vars.OPERATOR_TOKEN, OPERATOR: service.vars.OPERATOR_TOKEN },
    ...(await recordsOf(client)),
    ...(blocks.some((block) => block.includes("$DELIVERY")) ? await deliveryOf(client) : {}),
  };
  const bash = (args: string[]) => promisify(execFile)("bash", args, { cwd: folder, env });
  const [programs, commands] = [true, false].map((wanted) => blocks.filter((text) => text.startsWith("#!") === wanted));
  for (const program of programs ?? []) await bash(["-n", "-c", program]);
  return bash(["-c", PRELUDE + localized((commands ?? []).join("\n"), organization, client.token)]);
};

describe("the commands in the documents", () => {
  it.concurrent.each(scripts.map((script, index) => ({ ...script, index })))(
    "run as written: $name",
    async (script) => {
      await run(script, script.index);
    },
  );

  it.each(Object.entries(RUN_ELSEWHERE))("run in a test of their own: %s", (page, test) => {
    expect(existsSync(test) && readFileSync(test, "utf8")).toContain(page);
  });
});
