import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../src/local/client.ts";
import { waitForEnd } from "../../src/local/demo.ts";
import type { Build } from "../../src/protocol/build.ts";
import type { Connection } from "../../src/protocol/connection.ts";
import type { Repository } from "../../src/protocol/repository.ts";
import { newAppKeys } from "../support/app-keys.ts";
import { type RunningAgent, startAgent } from "../support/local/agent.ts";
import type { BareRepository } from "../support/local/git-host/bare-repository.ts";
import { TestGitHost } from "../support/local/git-host/git-host.ts";
import { type GitRepository, makeRepository } from "../support/local/git-repository.ts";
import { type LocalService, startLocalService } from "../support/local/service.ts";

/* The service, a real agent and real git, with a GitHub on loopback. Only its App may read the private repositories. */

const { key, publicKey } = newAppKeys();
/** A line from the middle of the key. Keys share their first and last lines. */
const KEY_LINE = key.split("\n")[5] ?? "";
const FILE = `steps:
  - run: |
      echo "built $MILLRACE_COMMIT"
      git config --list --show-origin
      env | cut -d= -f1 | sort
      for file in .git/config ~/.gitconfig ~/.git-credentials; do cat "$file" 2>/dev/null || true; done
`;

let service: LocalService;
let client: Client;
let agent: RunningAgent;
let host: TestGitHost;
let connection: Connection;
let bare: BareRepository;
let git: GitRepository;
let repository: Repository;

const logs: string[] = [];
const answers: string[] = [];
const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
  const answer = await client.call<T>(method, path, body);
  answers.push(JSON.stringify(answer));
  return answer;
};
const buildsOf = () => call<Build[]>("GET", `/build?repoId=${repository.id}`);
const push = async (text: string) => {
  git.git("commit", "--quiet", "--allow-empty", "--message", text);
  await host.push(git, bare, "main");
  return git.git("rev-parse", "HEAD");
};
const builtOf = async (sha: string): Promise<Build> => {
  await expect.poll(async () => (await buildsOf()).filter(({ commitSha }) => commitSha === sha)).toHaveLength(1);
  const build = (await buildsOf()).find(({ commitSha }) => commitSha === sha) as Build;
  await waitForEnd(client, build.id);
  const headers = { Authorization: `Bearer ${client.token}` };
  logs.push(await (await fetch(`${client.url}/build/${build.id}/log`, { headers })).text());
  return call<Build>("GET", `/build/${build.id}`);
};

beforeAll(async () => {
  service = await startLocalService();
  client = await service.newOrganization("acme");
  host = await TestGitHost.start("github", service.folder);
  host.api.settings.app = { id: 4242, clientId: "Iv23client", publicKey, installationId: 99, account: "acme" };
  agent = await startAgent(client, service.folder, "one");
  bare = host.addRepository("acme/shop");
  git = makeRepository(service.folder, { ".millrace.yml": FILE });
  await host.push(git, bare, "main");
  connection = await call<Connection>("POST", "/connection", {
    ...{ kind: "github", name: "GitHub", webUrl: host.url, token: host.secrets.token },
  });
  repository = await call<Repository>("POST", `/connection/${connection.id}/repository`, { hostRepoId: bare.id });
  await call("POST", "/pipeline", { repoId: repository.id, name: "test" });
});
afterAll(async () => {
  await agent?.stop();
  await host?.close();
  await service?.remove();
});

describe("a private repository of a GitHub App", () => {
  it("cannot be cloned with the connection's token, which no agent gets", async () => {
    const build = await builtOf(await push("by token"));
    expect(build.status).toBe("failed");
    expect(host.gitReads.some(({ isMinted }) => isMinted)).toBe(false);
  });

  it("is built once, with the App's token, while the old webhook and the App both deliver", async () => {
    connection = await call<Connection>("PUT", `/connection/${connection.id}`, {
      app: { id: "4242", privateKey: key },
    });
    expect(connection).toMatchObject({ auth: "app", installationId: "99" });
    const before = host.deliveries.length;
    const build = await builtOf(await push("both"));
    expect(host.deliveries.slice(before).map(({ event }) => event)).toEqual(["push", "push"]);
    expect(build.status, logs.at(-1)).toBe("succeeded");
    expect(host.gitReads.some(({ isMinted }) => isMinted)).toBe(true);
  });

  it("loses no push when the old webhook is removed", async () => {
    const found = await call<{ hooks: unknown[] }>("POST", `/connection/${connection.id}/installation`);
    expect(found.hooks).toMatchObject([{ fullName: "acme/shop", problem: null }]);
    const before = host.deliveries.length;
    expect((await builtOf(await push("by App"))).status).toBe("succeeded");
    expect(host.deliveries.slice(before).map(({ event }) => event)).toEqual(["push"]);
  });

  it("leaves no key or token in a file, log, answer or request (a planted one is found)", async () => {
    await call("GET", `/connection/${connection.id}/check`);
    await call("GET", "/audit");
    await call("GET", "/connection");
    const minted = host.api.place.minted.map(({ token }) => token);
    expect(minted.length).toBeGreaterThan(1);
    // A search for the whole text would miss a part.
    const needles = [
      KEY_LINE,
      ...minted,
      ...minted.map((token) => token.slice(20, 200)),
      host.api.place.appHook.secret ?? "?",
    ];
    const found = (text: string) => needles.filter((needle) => text.includes(needle));
    const paths = () => readdirSync(service.folder, { recursive: true, encoding: "utf8" });
    /** Returns a file's text. SQLite removes its temporary files at any time, and a read of a pipe would never end. */
    const textAt = (path: string): string => {
      try {
        return statSync(path).isFile() ? readFileSync(path, "latin1") : "";
      } catch {
        return "";
      }
    };
    const search = () =>
      paths()
        .map((path) => join(service.folder, path))
        .filter((path) => found(textAt(path)).length > 0);
    expect(search()).toEqual([]);
    expect(found(logs.join("\n"))).toEqual([]);
    expect(found(answers.join("\n"))).toEqual([]);
    const sent = host.api.requests.map(({ body, path, query }) => JSON.stringify([body, path, query]));
    expect(found(sent.join("\n")).filter((needle) => needle !== host.api.place.appHook.secret)).toEqual([]);
    expect(host.api.requests.flatMap(({ problems }) => problems)).toEqual([]);
    for (const needle of needles) {
      const planted = join(service.folder, "planted");
      writeFileSync(planted, `before ${needle} after`);
      expect(search()).toEqual([planted]);
      writeFileSync(planted, "");
    }
  });

  it("cannot be cloned after the connection is deleted", async () => {
    await call("DELETE", `/connection/${connection.id}`);
    expect(host.api.settings.app?.installationId).toBeUndefined();
    const before = host.deliveries.length;
    await push("too late");
    expect(host.deliveries.slice(before)).toEqual([]);
    expect(host.api.place.minted).toEqual([]);
  });
});
