import { createRequire } from "node:module";
import cloud from "@octokit/webhooks-examples/api.github.com/index.json";
import { describe, expect, it } from "vitest";
import { proves } from "../../../src/crypto/delivery-proof.ts";
import type { Arrival } from "../../../src/domain/githost/arrival.ts";
import { type HostKind, readDelivery } from "../../../src/domain/githost/delivery.ts";
import { githubArrival } from "../../../src/domain/githost/github.ts";
import SAMPLE from "./deliveries.json";

/* Real deliveries of the fixtures of other projects, whose names and licences stand in each one's `source`. */

const KINDS: Record<string, HostKind> = { github: "github", gitlab: "gitlab", gitea: "gitea", forgejo: "gitea" };

/** What the sample's words for an action are here; every other action makes and changes nothing. */
const ACTIONS: Record<string, string> = {
  opened: "opened",
  open: "opened",
  reopened: "reopened",
  closed: "closed",
  merge: "closed",
  labeled: "labeled",
  unlabeled: "labeled",
  label_updated: "labeled",
};

/** Updates of GitLab, which has one word for them all. */
const UPDATES: Record<string, string> = {
  "gitlab-packit-gitlab-mr-update-event": "new-head",
  "gitlab-wp-hookpullrequestlabelsadded": "labeled",
};

type Facts = Record<string, unknown>;
const deliveries = SAMPLE.deliveries as unknown as {
  id: string;
  host: string;
  headers: Record<string, string>;
  facts: Facts;
  payload: string;
}[];

const read = ({ host, headers, payload }: (typeof deliveries)[number]) =>
  readDelivery(KINDS[host]!, new Headers(headers), new TextEncoder().encode(payload));

const pullOf = (id: string, facts: Facts): object => {
  const action = UPDATES[id] ?? ACTIONS[facts.action as string];
  if (action === undefined) return { kind: "ignored" };
  return {
    kind: "pull",
    action,
    ref: facts.ref,
    sha: facts.sha,
    before: facts.oldrev ?? null,
    pull: {
      number: facts.number,
      base: facts.base,
      branch: facts.source,
      isFork: facts.fork,
      isDraft: facts.draft,
      isMerged: facts.merged,
    },
  };
};

/** What the sample says of a delivery, in our words. */
const expected = (id: string, facts: Facts): object => {
  const repository = { id: Number(facts.repoId), fullName: facts.fullName };
  if (id === "github-branch-too-long") return { kind: "ignored" };
  switch (facts.kind) {
    case "push":
    case "tag": {
      const { ref, sha, before, forced } = facts;
      return facts.deleted
        ? { kind: "deleted", repository, ref, before }
        : { kind: facts.kind, repository, ref, sha, before, forced };
    }
    case "pull": {
      const pull = pullOf(id, facts);
      return "ref" in pull ? { repository, ...pull } : pull;
    }
    case "rename":
      return { kind: "renamed", repository };
    default:
      return { kind: "ignored" };
  }
};

const matches = (delivery: object, arrival: object): boolean => {
  try {
    expect(delivery).toMatchObject({ arrival });
    return true;
  } catch {
    return false;
  }
};

describe("the sample of deliveries", () => {
  it("has 40", () => {
    expect(deliveries).toHaveLength(40);
  });

  it.each(deliveries.map((delivery) => [delivery.id, delivery] as const))("%s", (id, delivery) => {
    expect(read(delivery)).toMatchObject({ arrival: expected(id, delivery.facts) });
  });

  it("is ignored without a pull request's or a push's build only where the sample wants none", () => {
    const lost = deliveries.filter((delivery) => {
      const body = read(delivery);
      return "arrival" in body && body.arrival.kind === "ignored" && delivery.facts.build !== "none";
    });
    expect(lost.map(({ id }) => id)).toEqual(["github-octokit-merge-group-checks-requested-payload"]);
  });

  it.each<[string, (body: Record<string, unknown>) => object, number]>([
    ["before and after are swapped", (body) => ({ before: body.after, after: body.before }), 9],
    ["only `after` tells of the commit", () => ({ head_commit: null, checkout_sha: null }), 2],
    ["what an update changed is not told", () => ({ changes: {} }), 1],
  ])("would be seen to be misread where %s", (_, change, count) => {
    const misread = deliveries.filter(({ id, facts, payload, ...delivery }) => {
      const body = JSON.parse(payload);
      const arrival = read({ ...delivery, id, facts, payload: JSON.stringify({ ...body, ...change(body) }) });
      return !matches(arrival, expected(id, facts));
    });
    expect(misread).toHaveLength(count);
  });

  it.each(deliveries.map((delivery) => [delivery.id, delivery] as const))("has a proof: %s", async (_, delivery) => {
    const bytes = Uint8Array.from(new TextEncoder().encode(delivery.payload));
    const headers = new Headers(delivery.headers);
    const kind = KINDS[delivery.host]!;
    expect(await proves(kind, headers, bytes, SAMPLE.secret)).toBe(true);
    expect(await proves(kind, headers, bytes, `${SAMPLE.secret}x`)).toBe(false);
  });

  it("has the id of each delivery and the name of its event", () => {
    for (const delivery of deliveries) {
      const { id, event } = read(delivery) as { id: string; event: string };
      const values = Object.values(delivery.headers);
      expect(values).toContain(id);
      expect(values).toContain(event);
    }
  });
});

describe("GitHub's examples", () => {
  type Described = { name: string; examples: Record<string, unknown>[] };
  const require = createRequire(import.meta.url);
  const servers = ["31", "32", "33", "34", "35"].flatMap(
    (release) => require(`@octokit/webhooks-examples/ghes-${release}/index.json`) as Described[],
  );
  const all = [...(cloud as Described[]), ...servers].flatMap(({ name, examples }) =>
    examples.map((body) => [name, body] as const),
  );
  const kinds = (wanted: (arrival: Arrival) => boolean) =>
    Map.groupBy(
      all.filter(([name, body]) => wanted(githubArrival(name, body))),
      ([name, { action }]) => (action ? `${name}.${action}` : name),
    );
  const counted = (groups: Map<string, unknown[]>) =>
    Object.fromEntries([...groups].map(([name, list]) => [name, list.length]));

  it("are each understood, or ignored with a reason", () => {
    expect(all).toHaveLength(726);
    for (const [event, body] of all) {
      const headers = new Headers({ "X-GitHub-Event": event, "X-GitHub-Delivery": "d" });
      const delivery = readDelivery("github", headers, new TextEncoder().encode(JSON.stringify(body)));
      expect(delivery).toEqual({ id: "d", event, arrival: githubArrival(event, body) });
      if ("arrival" in delivery && delivery.arrival.kind === "ignored") {
        expect(delivery.arrival.reason).toMatch(/^[A-Z].*\.$/);
      }
    }
  });

  it("are understood where they are for us", () => {
    expect(counted(kinds(({ kind }) => kind !== "ignored"))).toMatchInlineSnapshot(`
      {
        "ping": 11,
        "pull_request.closed": 4,
        "pull_request.converted_to_draft": 3,
        "pull_request.labeled": 4,
        "pull_request.opened": 11,
        "pull_request.ready_for_review": 3,
        "pull_request.reopened": 2,
        "pull_request.synchronize": 1,
        "pull_request.unlabeled": 4,
        "push": 14,
        "repository.renamed": 1,
        "repository.transferred": 3,
      }
    `);
  });

  it("lack no field that we need", () => {
    const missing = kinds((arrival) => arrival.kind === "ignored" && arrival.reason.startsWith("The field"));
    expect(counted(missing)).toEqual({});
  });
});
