import { env } from "cloudflare:workers";
import cloud from "@octokit/webhooks-examples/api.github.com/index.json";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { HookKind } from "../../src/crypto/hook.ts";
import CASES from "../crypto/signature-cases.json";
import SAMPLE from "../domain/githost/deliveries.json";
import { call, newOrganization, newPipeline, newRepository } from "../support/api.ts";
import {
  attachRepository,
  deliver,
  eventHeaders,
  newConnection,
  notesOf,
  type StoredConnection,
  send,
} from "../support/hooks.ts";

/* Deliveries of real hosts (their sources and licences stand in the files), signed anew for a connection here. */

const KINDS: Record<string, HookKind> = { github: "github", gitlab: "gitlab", gitea: "gitea", forgejo: "gitea" };

interface Sample {
  id: string;
  host: string;
  headers: Record<string, string>;
  facts: { kind: string; build: string; repoId: string; fullName: string; ref: string; sha: string; fork?: boolean };
  payload: string;
}
const SAMPLES = SAMPLE.deliveries as unknown as Sample[];

/** Builds that the second part makes, and a ref that no build may name. */
const NOT_HERE = ["github-octokit-merge-group-checks-requested-payload", "github-branch-too-long"];

let admin: string;
let hooks: Record<HookKind, StoredConnection>;
/** Ids of our repositories, by the host's kind and its own id. */
const repositories = new Map<string, string>();

const ON_EVERYTHING = JSON.stringify({ push: true, tag: true, pull: true });

beforeAll(async () => {
  const organization = await newOrganization();
  admin = organization.admin;
  const [github, gitlab, gitea] = await Promise.all(
    (["github", "gitlab", "gitea"] as const).map((kind) => newConnection(organization.orgId, kind)),
  );
  hooks = { github: github!, gitlab: gitlab!, gitea: gitea! };
  let number = 1_000_000_000;
  for (const { host, facts } of SAMPLES) {
    const key = `${KINDS[host]} ${facts.repoId}`;
    if (!Number(facts.repoId) || repositories.has(key)) continue;
    const { id } = await newRepository(admin, ++number);
    await env.DB.prepare("UPDATE repository SET git_host_repo_id = ?, full_name = ?, clone_host = ? WHERE id = ?")
      .bind(Number(facts.repoId), facts.fullName, `${KINDS[host]}.example`, id)
      .run();
    await attachRepository(id, hooks[KINDS[host]!]);
    const pipeline = await newPipeline(admin, id, { definition: "steps:\n  - run: make\n" });
    await env.DB.prepare("UPDATE pipeline SET on_json = ? WHERE id = ?").bind(ON_EVERYTHING, pipeline.id).run();
    repositories.set(key, id);
  }
});

/** The host's headers without its proof, which is made anew. */
const unsigned = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !/signature|token/i.test(name)));

describe("a delivery of the sample", () => {
  // Each by itself: the sample is not in the order of the hosts' times.
  beforeEach(() => env.DB.exec("DELETE FROM open_pull"));

  it.each(SAMPLES.map((one) => [one.id, one] as const))("%s", async (id, { host, headers, facts, payload }) => {
    const kind = KINDS[host]!;
    const answer = await deliver(hooks[kind], unsigned(headers), payload);
    expect(answer.status, answer.text).toBe(202);
    const { builds, ignored } = answer.body;
    const isBuilt = ["build", "once"].includes(facts.build) && !NOT_HERE.includes(id);
    // A label is no reason to build what was built, and one of the sample is not known to be open.
    const mayBuild = isBuilt || (facts.kind === "pull" && facts.build === "none");
    expect(ignored === null, `${ignored}`).toBe(builds.length > 0);
    if (isBuilt) expect(builds.length, `${ignored}`).toBe(1);
    if (!mayBuild) expect(builds).toEqual([]);
    const [note] = await notesOf(hooks[kind]);
    expect(note).toMatchObject({ id: answer.body.delivery, builds, ignored });
    for (const build of builds) {
      const { body } = await call(admin, "GET", `/build/${build}`);
      expect(body).toMatchObject({
        repoId: repositories.get(`${kind} ${facts.repoId}`),
        commitSha: facts.sha,
        event: facts.kind,
      });
    }
  });

  it("was one of each host", () => {
    expect(SAMPLES).toHaveLength(40);
    expect(new Set(SAMPLES.map(({ host }) => host)).size).toBe(4);
  });
});

const EXAMPLES = cloud as unknown as { name: string; examples: object[] }[];

describe("an example of GitHub", () => {
  it.each(EXAMPLES.map(({ name, examples }) => [name, examples] as const))(
    "of %s is understood, or ignored with a reason",
    async (name, examples) => {
      for (const example of examples) {
        const { status, body, text } = await deliver(hooks.github, eventHeaders("github", name), example);
        expect(status, text).toBe(202);
        expect(body.builds.length > 0 || /\w{4}/.test(body.ignored ?? ""), text).toBe(true);
      }
    },
  );

  it("was one of hundreds", () => {
    expect(EXAMPLES.flatMap(({ examples }) => examples).length).toBeGreaterThan(300);
  });
});

describe("a signature case", () => {
  const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

  /** Under another secret than a hook's, every one of them is a stranger's. */
  it.each(CASES.filter(({ host }) => host in KINDS).map((one) => [one.id, one] as const))(
    "%s is refused by a hook that has another secret",
    async (_, { host, headers, body64 }) => {
      const hook = hooks[KINDS[host]!];
      const given = { ...eventHeaders(hook.kind, "push"), ...(headers as Record<string, string>) };
      const request = { method: "POST", headers: given, body: bytesOf(body64) };
      const { status } = await send(`/hook/${hook.token}`, request);
      expect(status).toBe(/form/.test(given["Content-Type"] ?? "") ? 415 : 401);
    },
  );

  it.each(CASES.filter(({ host }) => host in KINDS).map((one) => [one.id, one] as const))(
    "%s has a body that is read where the host signs it",
    async (_, { host, body64 }) => {
      const hook = hooks[KINDS[host]!];
      const answer = await deliver(hook, eventHeaders(hook.kind, "unheard of"), bytesOf(body64));
      expect([202, 400], answer.text).toContain(answer.status);
    },
  );
});
