import { env } from "cloudflare:workers";
import cloud from "@octokit/webhooks-examples/api.github.com/index.json";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { HostKind } from "../../../src/protocol/connection.ts";
import { call, newOrganization, newPipeline, newRepository } from "../../support/api.ts";
import { DELIVERIES } from "../../support/deliveries/cases.ts";
import { SIGNATURE_CASES } from "../../support/deliveries/signature-cases.ts";
import { signedHeaders } from "../../support/deliveries/signed.ts";
import {
  attachRepository,
  deliver,
  eventHeaders,
  newConnection,
  readDeliveryNotes,
  type StoredConnection,
  send,
} from "../../support/hooks.ts";

let admin: string;
let hooks: Record<HostKind, StoredConnection>;
/** Our repositories' ids by host kind. */
const repositories = new Map<HostKind, string>();

const ON_EVERYTHING = JSON.stringify({ push: true, tag: true, pull: true });
const HOSTED: [HostKind, id: number, fullName: string][] = [
  ["github", 7001, "millwork/gears"],
  ["gitlab", 8002, "millwork/parts/gears"],
  ["gitea", 93, "millwork/gears"],
];

beforeAll(async () => {
  const organization = await newOrganization();
  admin = organization.admin;
  const [github, gitlab, gitea] = await Promise.all(
    (["github", "gitlab", "gitea"] as const).map((kind) => newConnection(organization.orgId, kind)),
  );
  hooks = { github: github!, gitlab: gitlab!, gitea: gitea! };
  for (const [index, [kind, hostId, fullName]] of HOSTED.entries()) {
    const { id } = await newRepository(admin, 1_000_000_000 + index);
    await env.DB.prepare("UPDATE repository SET git_host_repo_id = ?, full_name = ?, clone_host = ? WHERE id = ?")
      .bind(hostId, fullName, `${kind}.example`, id)
      .run();
    await attachRepository(id, hooks[kind]);
    const pipeline = await newPipeline(admin, id, { definition: "steps:\n  - run: make\n" });
    await env.DB.prepare("UPDATE pipeline SET on_json = ? WHERE id = ?").bind(ON_EVERYTHING, pipeline.id).run();
    repositories.set(kind, id);
  }
});

describe("a delivery", () => {
  // Each delivery by itself: they do not follow the order of a host's times.
  beforeEach(() => env.DB.exec("DELETE FROM open_pull"));

  /** Gives each delivery its own commits: the same head of the same ref creates only one build. */
  const ofOwnCommits = (body: object, number: number): object =>
    JSON.parse(
      JSON.stringify(body).replace(/\b([1-9])\1{39}\b/g, (_, digit) => digit + number.toString(16).padStart(39, "a")),
    );

  it.each(DELIVERIES.map((one, index) => [one.title, one, index] as const))(
    "of %s has the expected outcome",
    async (_, one, index) => {
      const { kind, event, body, arrival, builds: isBuilt } = one;
      const answer = await deliver(
        hooks[kind],
        signedHeaders(kind, event, `sample-${index}`),
        ofOwnCommits(body, index),
      );
      expect(answer.status, answer.text).toBe(202);
      const { builds, ignored } = answer.body;
      expect(ignored === null, `${ignored}`).toBe(builds.length > 0);
      // A pull request that was not known to be open is built whatever changed.
      const { action, pull } = arrival as { action?: string; pull?: { isFork?: boolean } };
      const isUnknown = action === "labeled" && !pull?.isFork;
      if (!isUnknown) expect(builds.length, `${ignored}`).toBe(isBuilt ? 1 : 0);
      const [note] = await readDeliveryNotes(hooks[kind]);
      expect(note).toMatchObject({ id: answer.body.delivery, builds, ignored });
      for (const build of builds) {
        const { body: made } = await call(admin, "GET", `/build/${build}`);
        expect(made).toMatchObject({ repoId: repositories.get(kind), event: (arrival as { kind: string }).kind });
      }
    },
  );
});

const EXAMPLES = cloud as unknown as { name: string; examples: object[] }[];

describe("GitHub's example deliveries", () => {
  it.each(EXAMPLES.map(({ name, examples }) => [name, examples] as const))(
    "of %s are understood, or ignored with a reason",
    async (name, examples) => {
      for (const example of examples) {
        const { status, body, text } = await deliver(hooks.github, eventHeaders("github", name), example);
        expect(status, text).toBe(202);
        expect(body.builds.length > 0 || /\w{4}/.test(body.ignored ?? ""), text).toBe(true);
      }
    },
  );

  it("number in the hundreds", () => {
    expect(EXAMPLES.flatMap(({ examples }) => examples).length).toBeGreaterThan(300);
  });
});

describe("a signature", () => {
  /** These signatures use other secrets than the hooks do, so each is a stranger's. */
  it.each(SIGNATURE_CASES.map((one) => [one.title, one] as const))(
    "%s is rejected by a hook with another secret",
    async (_, { kind, headers, body }) => {
      const hook = hooks[kind];
      const given = { ...eventHeaders(hook.kind, "push"), ...headers };
      const { status } = await send(`/hook/${hook.token}`, { method: "POST", headers: given, body });
      expect(status).toBe(401);
    },
  );

  it.each(SIGNATURE_CASES.map((one) => [one.title, one] as const))(
    "%s covers a body that is read as the host signs it",
    async (_, { kind, body }) => {
      const answer = await deliver(hooks[kind], eventHeaders(kind, "unheard of"), body);
      expect([202, 400], answer.text).toContain(answer.status);
    },
  );
});
