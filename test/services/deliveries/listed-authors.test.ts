import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { HostKind } from "../../../src/protocol/connection.ts";
import type { Repository } from "../../../src/protocol/repository.ts";
import { call, newOrganization, newPipeline, newRepository } from "../../support/api.ts";
import { readBuild, triggerBuild } from "../../support/build-setup.ts";
import { attachRepository, deliver, eventHeaders, newConnection, type StoredConnection } from "../../support/hooks.ts";
import { newMergeGroup, SHA } from "../../support/host-events.ts";
import { HOSTS_OF_PEOPLE, type Told } from "../../support/host-people.ts";

const MAIN = "refs/heads/main";
const BOT = "renovate[bot]";
const [ONE, TWO, THREE, FOUR] = [SHA("1"), SHA("2"), SHA("3"), SHA("4")] as const;

let admin: string;
let orgId: string;
let repository: Repository;
let pipelineId: string;
let hook: StoredConnection;

const set = async (change: object) =>
  expect((await call(admin, "PUT", `/repository/${repository.id}`, change)).status).toBe(200);
const buildOn = async (on: object | null) =>
  expect((await call(admin, "PUT", `/pipeline/${pipelineId}`, { on })).status).toBe(200);

/** Connects a repository to a host that lists the author. */
const connect = async (kind: HostKind) => {
  ({ admin, orgId } = await newOrganization());
  repository = await newRepository(admin, 1);
  pipelineId = (await newPipeline(admin, repository.id, { definition: "steps: [{ run: make }]" })).id;
  hook = await newConnection(orgId, kind);
  await attachRepository(repository.id, hook);
  await set({ untrustedAuthors: ["Renovate[bot]"] });
};

/** Sends the deliveries in order. @returns the trust of the last one's build; null if it created none */
const trustAfter = async (told: Told[]): Promise<string | null> => {
  let builds: string[] = [];
  for (const [event, body] of told) {
    const answer = await deliver(hook, eventHeaders(hook.kind, event), body);
    expect(answer.status, answer.text).toBe(202);
    ({ builds } = answer.body);
  }
  return builds[0] ? (await readBuild(admin, builds[0])).trust : null;
};

let places = 0;

/** Returns events at a place with its own branches, tags, commits and pull request. */
const at = (kind: HostKind) => {
  const host = HOSTS_OF_PEOPLE[kind];
  const number = ++places;
  const own = (sha: string): string => sha.slice(0, 30) + number.toString(16).padStart(10, "a");
  let second = 0;
  type Event = Partial<Parameters<typeof host.pull>[0]>;
  const push = (sender: string, sha: string | null, before: string | null, ref = "refs/heads/bot/x"): Told =>
    host.push({ ref: ref === MAIN ? ref : ref + number, sha: sha && own(sha), before: before && own(before), sender });
  const pull = (did: Parameters<typeof host.pull>[0]["did"], sha: string, more: Event = {}): Told => {
    const branch = `${more.branch ?? "bot/x"}${number}`;
    return host.pull({ sender: "ann", author: "ann", ...more, did, number, branch, sha: own(sha), second: second++ });
  };
  return { push, pull, own, branch: `bot/x${number}` };
};

type Scenario = [title: string, on: object | null, told: (who: string, did: ReturnType<typeof at>) => Told[]];

const LABELED = { pull: { labels: ["go"] } };

/** Other people's actions on a branch or commit that somebody has pushed. The last delivery creates a build. */
const EVERYWHERE: Scenario[] = [
  ["opens a pull request for it", null, (who, { push, pull }) => [push(who, ONE, null), pull("opened", ONE)]],
  [
    "marks its pull request ready",
    { pull: { drafts: false } },
    (who, { pull }) => [
      pull("opened", ONE, { draft: true }),
      pull("pushed", TWO, { sender: who, draft: true }),
      pull("ready", TWO),
    ],
  ],
  [
    "labels the pull request",
    LABELED,
    (who, { push, pull }) => [push(who, ONE, null), pull("opened", ONE), pull("labeled", ONE, { labels: ["go"] })],
  ],
  [
    "labels the pull request that the author opened and left",
    LABELED,
    (who, { pull }) => [
      pull("opened", ONE, { sender: who, author: who }),
      pull("labeled", ONE, { labels: ["go"], author: who }),
    ],
  ],
  [
    "reopens the pull request",
    null,
    (who, { push, pull }) => [push(who, ONE, null), pull("closed", ONE), pull("reopened", ONE)],
  ],
  ["pushes a commit on top", { push: true }, (who, { push }) => [push(who, ONE, null), push("ann", TWO, ONE)]],
  [
    "force-pushes over it",
    { push: true },
    (who, { push }) => [push(who, ONE, null), push("ann", TWO, ONE), push("ann", THREE, TWO)],
  ],
  [
    "branches from the commit, and opens a pull request",
    null,
    (who, { push, pull }) => [
      push(who, ONE, null),
      push("ann", ONE, null, "refs/heads/copy"),
      pull("opened", ONE, { branch: "copy" }),
    ],
  ],
  ["tags the commit", { tag: true }, (who, { push }) => [push(who, ONE, null), push("ann", ONE, null, "refs/tags/v1")]],
];

describe.each(["github", "gitlab", "gitea"] as const)("a listed author's push at %s", (kind) => {
  beforeAll(() => connect(kind));

  // Without listed authors, each of these would give a stranger's code all secrets.
  it.each(EVERYWHERE)("stays untrusted if somebody else %s; a push by others is trusted", async (_, on, told) => {
    await buildOn(on);
    expect(await trustAfter(told(BOT, at(kind)))).toBe("untrusted");
    expect(await trustAfter(told("bob", at(kind)))).toBe("trusted");
  });
});

describe("a listed author's commit", () => {
  const { push, pull, own, branch } = at("github");

  beforeEach(async () => {
    await connect("github");
    await buildOn({ push: true, tag: true, pull: true });
  });

  it("is untrusted when its branch is restored, and when its deletion is delivered late", async () => {
    await trustAfter([push(BOT, ONE, null), push("ann", null, ONE)]);
    expect(await trustAfter([push("ann", ONE, null)])).toBe("untrusted");
    await trustAfter([push(BOT, null, ONE), push(BOT, TWO, null), push(BOT, null, ONE)]);
    expect(await trustAfter([push("ann", THREE, TWO)])).toBe("untrusted");
    expect(await trustAfter([push("ann", FOUR, THREE)])).toBe("untrusted");
  });

  it("is forgotten with its branch: a new branch with that name is trusted", async () => {
    await trustAfter([push(BOT, ONE, null), pull("opened", ONE), push("ann", null, ONE), pull("closed", ONE)]);
    expect(await trustAfter([push("ann", TWO, null)])).toBe("trusted");
  });

  it("counts only as the head, on the default branch", async () => {
    expect(await trustAfter([push(BOT, ONE, TWO, MAIN)])).toBe("untrusted");
    expect(await trustAfter([push("ann", ONE, null, "refs/tags/v1")])).toBe("trusted");
    expect(await trustAfter([push("ann", THREE, ONE, MAIN)])).toBe("trusted");
    expect(await trustAfter([push(BOT, FOUR, null), push(BOT, FOUR, THREE, MAIN)])).toBe("untrusted");
    expect(await trustAfter([push("ann", SHA("5"), FOUR, MAIN)])).toBe("trusted");
  });

  it("becomes trusted when somebody else moves another branch to it", async () => {
    expect(await trustAfter([push(BOT, ONE, null), push("ann", ONE, TWO, "refs/heads/next")])).toBe("trusted");
    expect(await trustAfter([push("ann", ONE, null, "refs/tags/v1")])).toBe("trusted");
    expect(await trustAfter([push("ann", ONE, null, "refs/heads/release")])).toBe("trusted");
    expect(await trustAfter([push("ann", THREE, ONE)])).toBe("untrusted");
  });

  it("does not become trusted by the listed author's own push to another branch", async () => {
    await trustAfter([push("ann", TWO, null, "refs/heads/wip"), push(BOT, ONE, null)]);
    expect(await trustAfter([push(BOT, ONE, TWO, "refs/heads/wip")])).toBe("untrusted");
    expect(await trustAfter([push("ann", ONE, null, "refs/tags/v1")])).toBe("untrusted");
  });

  it("counts from the listing on, until the author is removed from the list", async () => {
    await set({ untrustedAuthors: ["dependabot[bot]"] });
    await trustAfter([push(BOT, ONE, null)]);
    await set({ untrustedAuthors: ["dependabot[bot]", BOT] });
    expect(await trustAfter([push("ann", TWO, ONE)])).toBe("trusted");
    await trustAfter([push(BOT, THREE, TWO)]);
    await set({ untrustedAuthors: ["dependabot[bot]"] });
    await set({ untrustedAuthors: ["dependabot[bot]", BOT] });
    expect(await trustAfter([push("ann", FOUR, THREE)])).toBe("trusted");
  });

  it("is untrusted in a pull request that the author opened before the listing", async () => {
    await set({ untrustedAuthors: [] });
    const his = { author: BOT, branch: "bot/late" };
    await trustAfter([pull("opened", ONE, { ...his, sender: BOT })]);
    await set({ untrustedAuthors: [BOT] });
    expect(await trustAfter([pull("pushed", TWO, his)])).toBe("untrusted");
  });

  it("is trusted where a person requests its build", async () => {
    await trustAfter([push(BOT, ONE, null)]);
    const asked = { branch, commitSha: own(ONE) };
    expect(await triggerBuild(admin, pipelineId, asked)).toMatchObject({ trust: "trusted" });
  });

  it("is recorded for the full number of listed authors", async () => {
    const authors = Array.from({ length: 50 }, (_, n) => `bot-${n}`);
    await set({ untrustedAuthors: authors });
    const row = "INSERT INTO listed_push SELECT ?, ?, value, NULL FROM json_each(?)";
    await env.DB.prepare(row).bind(repository.id, `refs/heads/${branch}`, JSON.stringify(authors)).run();
    expect(await trustAfter([push("ann", ONE, TWO)])).toBe("untrusted");
    expect(await trustAfter([push("ann", ONE, null, "refs/tags/v1")])).toBe("untrusted");
  });

  it("is deleted with its repository", async () => {
    await trustAfter([push(BOT, ONE, null)]);
    for (const { id } of (await call(admin, "GET", "/build")).body) await call(admin, "POST", `/build/${id}/cancel`);
    const rows = () =>
      env.DB.prepare("SELECT count(*) AS n FROM listed_push WHERE repo_id = ?").bind(repository.id).first("n");
    expect(await rows()).toBe(2);
    expect((await call(admin, "DELETE", `/repository/${repository.id}`)).status).toBe(204);
    expect(await rows()).toBe(0);
  });
});

describe("a merge group", () => {
  it.each([
    [BOT, "untrusted"],
    ["github-merge-queue[bot]", "trusted"],
  ])("that %s requested is %s", async (login, trust) => {
    await connect("github");
    await buildOn({ "merge-group": true });
    expect(await trustAfter([["merge_group", { ...newMergeGroup("checks_requested", ONE), sender: { login } }]])).toBe(
      trust,
    );
  });
});

describe("a member's fork", () => {
  const own = { forkOf: 99, association: "MEMBER" };

  it.each([
    ["stranger", 1],
    ["ann", 0],
  ])("after a push by %s is built once the member labels it, and %i builds wait", async (sender, waiting) => {
    await connect("github");
    await buildOn(LABELED);
    await set({ forks: "members" });
    const { pull } = at("github");
    await trustAfter([pull("opened", ONE, own), pull("pushed", TWO, { ...own, sender })]);
    await trustAfter([pull("labeled", TWO, { ...own, labels: ["go"] })]);
    const builds = (await call(admin, "GET", "/build")).body;
    expect(builds).toHaveLength(1);
    expect(builds[0].waitsFor).toHaveLength(waiting);
  });
});
