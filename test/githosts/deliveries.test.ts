import { createRequire } from "node:module";
import cloud from "@octokit/webhooks-examples/api.github.com/index.json";
import { describe, expect, it } from "vitest";
import type { Arrival } from "../../src/githosts/core/arrival.ts";
import { readDelivery } from "../../src/githosts/core/delivery.ts";
import { githubArrival } from "../../src/githosts/github/deliveries.ts";
import { HOSTS } from "../../src/githosts/hosts.ts";
import { DELIVERIES, type Delivery } from "../support/deliveries/cases.ts";
import { signedHeaders } from "../support/deliveries/signed.ts";

const read = ({ kind, event, body }: Omit<Delivery, "title" | "arrival" | "builds">, id = "one") =>
  readDelivery(
    HOSTS[kind],
    new Headers(signedHeaders(kind, event, id)),
    new TextEncoder().encode(JSON.stringify(body)),
  );

const matches = (delivery: object, arrival: object): boolean => {
  try {
    expect(delivery).toMatchObject({ arrival });
    return true;
  } catch {
    return false;
  }
};

describe("a delivery", () => {
  it.each(DELIVERIES.map((delivery) => [delivery.title, delivery] as const))("is read: %s", (_, delivery) => {
    expect(read(delivery, "d-7")).toMatchObject({ id: "d-7", event: delivery.event, arrival: delivery.arrival });
  });

  it.each<[string, (body: Record<string, unknown>) => object, number]>([
    ["before and after are swapped", (body) => ({ before: body.after, after: body.before }), 10],
    ["only `after` names the commit", () => ({ head_commit: null, checkout_sha: null }), 2],
    ["the changes of an update are missing", () => ({ changes: {} }), 1],
  ])("is tested so that a wrong reading fails where %s", (_, change, least) => {
    const misread = DELIVERIES.filter(
      ({ arrival, ...delivery }) =>
        !matches(read({ ...delivery, body: { ...delivery.body, ...change(delivery.body) } }), arrival),
    );
    expect(misread.length).toBeGreaterThanOrEqual(least);
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
      const delivery = readDelivery(HOSTS.github, headers, new TextEncoder().encode(JSON.stringify(body)));
      expect(delivery).toEqual({ id: "d", event, arrival: githubArrival(event, body) });
      if ("arrival" in delivery && delivery.arrival.kind === "ignored") {
        expect(delivery.arrival.reason).toMatch(/^[A-Z].*\.$/);
      }
    }
  });

  it("are understood if they concern us", () => {
    expect(counted(kinds(({ kind }) => kind !== "ignored"))).toMatchInlineSnapshot(`
      {
        "check_run.requested_action": 1,
        "check_run.rerequested": 2,
        "check_suite.rerequested": 4,
        "merge_group.checks_requested": 2,
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
        "repository.edited": 1,
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
