import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { branchOf, branchProblem } from "../../src/domain/git-ref.ts";
import type { Arrival } from "../../src/githosts/core/arrival.ts";
import { readDelivery } from "../../src/githosts/core/delivery.ts";
import { HOSTS } from "../../src/githosts/hosts.ts";
import type { HostKind } from "../../src/protocol/connection.ts";
import { DELIVERIES } from "../support/deliveries/cases.ts";
import { signedHeaders } from "../support/deliveries/signed.ts";

const EVENTS: Record<HostKind, [header: string, events: string[]]> = {
  github: ["X-GitHub-Event", ["push", "pull_request", "repository", "ping", "merge_group", "x"]],
  gitlab: ["X-Gitlab-Event", ["Push Hook", "Tag Push Hook", "Merge Request Hook", "System Hook"]],
  gitea: ["X-Gitea-Event", ["push", "delete", "pull_request", "release"]],
};
const CALLS = (Object.keys(EVENTS) as HostKind[]).flatMap((kind) =>
  EVENTS[kind][1].map((event) => ({ kind, headers: new Headers({ [EVENTS[kind][0]]: event }) })),
);
const BODIES = DELIVERIES.map(({ kind, event, body }) => ({
  kind,
  headers: new Headers(signedHeaders(kind, event, "one")),
  body: body as Record<string, unknown>,
}));

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

/** Checks the laws of every arrival, whatever was sent. */
const keepsLaws = (arrival: Arrival) => {
  JSON.stringify(arrival, (_, value: unknown) => {
    if (typeof value === "string") expect(value.isWellFormed()).toBe(true);
    return value;
  });
  if (arrival.kind === "ignored") expect(arrival.reason).toMatch(/^[A-Z][^\n]{10,150}\.$/);
  if (arrival.kind === "ignored" || arrival.kind === "ping") return;
  expect(Number.isSafeInteger(arrival.repository.id) && arrival.repository.id > 0).toBe(true);
  expect(arrival.repository.fullName).toMatch(/^[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+)+$/);
  if (arrival.kind === "renamed") return;
  if (arrival.kind !== "deleted") expect(arrival.sha).toMatch(/^(?!0+$)(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
  if (arrival.kind === "rerun" || arrival.kind === "pressed") return;
  expect(branchProblem(branchOf(arrival.ref))).toBeNull();
  expect(arrival.ref).toMatch(/^refs\/(heads|tags|pull|merge-requests)\/(?!refs\/)/);
  if (arrival.kind !== "merge-group" && arrival.before !== null) expect(arrival.before).toMatch(/^(?!0+$)[0-9a-f]+$/);
  if (arrival.kind === "pull") {
    expect(Number.isSafeInteger(arrival.pull.number) && arrival.pull.number > 0).toBe(true);
    expect(branchProblem(arrival.pull.base)).toBeNull();
    expect(arrival.pull.title.length).toBeLessThanOrEqual(250);
  }
};

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.string({ unit: "binary" }),
  fc.constantFrom(2 ** 53, -1, 1e300, "__proto__", "\ud800", "refs/heads/../x", "0".repeat(40), "a".repeat(40)),
);

/** Returns the value with one field, at any depth, replaced or removed. */
const changed = (value: unknown, path: number[], by: unknown): unknown => {
  if (typeof value !== "object" || value === null) return by;
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  const names = Object.keys(copy);
  const name = names[(path[0] ?? 0) % Math.max(1, names.length)];
  if (name === undefined || path.length === 0) return by;
  copy[name] = changed(copy[name], path.slice(1), by);
  return copy;
};

describe("a delivery of any content", () => {
  it("is an arrival or a problem, never a throw", () => {
    fc.assert(
      fc.property(fc.constantFrom(...CALLS), fc.jsonValue({ maxDepth: 4 }), ({ kind, headers }, value) => {
        const delivery = readDelivery(HOSTS[kind], headers, bytesOf(value));
        if ("arrival" in delivery) keepsLaws(delivery.arrival);
        else expect(delivery.problem).toMatch(/^The body /);
      }),
      { numRuns: 1_000 },
    );
  });

  it("keeps the laws with any one field of a real one changed", () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(
        fc.constantFrom(...BODIES),
        fc.array(fc.nat({ max: 60 }), { minLength: 1, maxLength: 4 }),
        odd,
        ({ kind, headers, body }, path, by) => {
          const delivery = readDelivery(HOSTS[kind], headers, bytesOf(changed(body, path, by)));
          if (!("arrival" in delivery)) return;
          keepsLaws(delivery.arrival);
          seen.set(delivery.arrival.kind, (seen.get(delivery.arrival.kind) ?? 0) + 1);
        },
      ),
      { numRuns: 1_500 },
    );
    expect([...seen.keys()].sort()).toEqual(["deleted", "ignored", "merge-group", "pull", "push", "renamed", "tag"]);
  });

  it("reads the same above a mebibyte, except for its list of commits", () => {
    for (const { kind, headers, body } of BODIES) {
      const small = readDelivery(HOSTS[kind], headers, bytesOf(body));
      const large = readDelivery(HOSTS[kind], headers, bytesOf({ ...body, padding: " ".repeat(1024 * 1024) }));
      const without = readDelivery(HOSTS[kind], headers, bytesOf({ ...body, commits: null }));
      expect(large).toEqual(without);
      if (!("arrival" in small) || small.arrival.kind === "ignored") continue;
      expect({ ...small.arrival, commit: null, isSkipped: false, changedPaths: null }).toEqual({
        ...("arrival" in large ? large.arrival : {}),
        ...{ commit: null, isSkipped: false, changedPaths: null },
      });
    }
  });

  it("is ignored without an event, and never has too long an id", () => {
    const [{ body }] = BODIES as [(typeof BODIES)[number]];
    const headers = new Headers({ "X-GitHub-Delivery": "d".repeat(101), "X-Gitea-Event": "push" });
    expect(readDelivery(HOSTS.github, headers, bytesOf(body))).toEqual({
      id: null,
      event: null,
      arrival: { kind: "ignored", reason: "The delivery names no event." },
    });
  });

  it("of GitLab has the id that all its attempts have", () => {
    const headers = new Headers({
      "X-Gitlab-Event": "Push Hook",
      "X-Gitlab-Event-UUID": "each",
      "Idempotency-Key": "all",
    });
    expect(readDelivery(HOSTS.gitlab, headers, bytesOf({}))).toMatchObject({ id: "all" });
    headers.delete("Idempotency-Key");
    expect(readDelivery(HOSTS.gitlab, headers, bytesOf({}))).toMatchObject({ id: "each" });
  });
});

describe("the laws", () => {
  it("fail the test when they are broken", () => {
    const { kind, headers, body } = BODIES.find((delivery) => delivery.body.deleted === false)!;
    const { arrival } = readDelivery(HOSTS[kind], headers, bytesOf(body)) as { arrival: Arrival & { kind: "push" } };
    keepsLaws(arrival);
    for (const wrong of [
      { ref: "refs/notes/x" },
      { ref: "refs/heads/refs/tags/v1" },
      { sha: "0".repeat(40) },
      { sender: "\ud800" },
      { repository: { ...arrival.repository, id: -1 } },
    ]) {
      expect(() => keepsLaws({ ...arrival, ...wrong })).toThrow();
    }
  });
});
