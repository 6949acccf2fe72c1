import { describe, expect, it } from "vitest";
import type { BuildOrigin } from "../../src/githosts/core/build-origin.ts";
import type { DeliveryRequest, RequestedBuild } from "../../src/queue/commands/commands.ts";
import { HEAD_MS } from "../../src/queue/commands/heads.ts";
import { nothingDelivered } from "../../src/queue/state/outbox.ts";
import { CONNECTION, HOST, namedSha, newDelivery, newRequestedBuild, ORIGIN } from "../support/arrivals.ts";
import { ACTOR, ORG, TestPool } from "./test-pool.ts";

class Hooked extends TestPool {
  #deliveries = 0;

  /** Delivers these builds. */
  deliver(builds: RequestedBuild[], over: Partial<DeliveryRequest> = {}) {
    return this.ok("arrive", newDelivery(ORG, `d${++this.#deliveries}`, { builds, ...over }));
  }

  /** Pushes `head` after `before`. @returns the outcome of its one build */
  push(head: string, before: string | null = null, over: Partial<RequestedBuild> = {}) {
    const { builds, canceled } = this.deliver([newRequestedBuild(this.newBuild(), { head, before, ...over })]);
    return { ...builds[0]!, canceled };
  }

  /** Pushes, and expects a new build. @returns its id */
  made(head: string, before: string | null = null, over: Partial<RequestedBuild> = {}): string {
    const { outcome, buildId } = this.push(head, before, over);
    expect(outcome).toBe("made");
    return buildId!;
  }

  gone(pull: number | null = null, ref = "refs/heads/main", head: string | null = null) {
    return this.deliver([], { ended: [{ pipelineId: "pipeline", ref, pull, sha: head && namedSha(head) }] });
  }

  row(buildId: string) {
    return this.model.storage.rows.builds.get(buildId)!;
  }
}

describe("a delivery", () => {
  it("creates its builds with the next numbers, and an audit entry for each", () => {
    const pool = new Hooked();
    pool.build();
    const builds = ["p1", "p2"].map((pipelineId) => newRequestedBuild(pool.newBuild(), { head: "a", pipelineId }));
    const { builds: made, isRepeat } = pool.deliver(builds);
    expect(made).toEqual(builds.map(({ id, pipelineId }) => ({ buildId: id, pipelineId, outcome: "made" })));
    expect(isRepeat).toBe(false);
    expect(builds.map(({ id }) => pool.facts(id).number)).toEqual([2, 3]);
    expect(new Set(builds.map(({ id }) => pool.row(id).seq)).size).toBe(2);
    const audits = [...pool.model.storage.rows.audits.values()].filter(({ actor }) => actor === CONNECTION.actor);
    expect(audits.map(({ action, subject }) => `${action} ${subject}`)).toEqual(
      builds.map(({ id }) => `build.create ${id}`),
    );
  });

  it("gets the same answer when redelivered within four days, and a new one afterwards", () => {
    const pool = new Hooked();
    const request = newDelivery(ORG, "d", { builds: [newRequestedBuild(pool.newBuild(), { head: "a" })] });
    const first = pool.ok("arrive", request);
    const again = { ...request, builds: [newRequestedBuild(pool.newBuild(), { head: "b", before: "a" })] };
    pool.now += HEAD_MS - 1;
    expect(pool.ok("arrive", again)).toEqual({ ...first, isRepeat: true });
    pool.now += 1;
    expect(pool.ok("arrive", again).builds[0]?.outcome).toBe("made");
  });

  it("is distinct from a delivery with the same id from another connection", () => {
    const pool = new Hooked();
    pool.ok("arrive", newDelivery(ORG, "d", { builds: [newRequestedBuild(pool.newBuild(), { head: "a" })] }));
    const builds = [newRequestedBuild(pool.newBuild(), { head: "b", before: "a" })];
    expect(pool.ok("arrive", newDelivery(ORG, "d", { connectionId: "c2", builds })).isRepeat).toBe(false);
  });

  it("is rejected for another organization", () => {
    const pool = new Hooked();
    pool.build();
    expect(pool.refusal("arrive", newDelivery("other", "d"))).toBe("not-found");
  });

  it("waits until the pool is compared with D1, then creates all its builds", () => {
    const pool = new Hooked();
    pool.build();
    pool.model.reload(pool.now);
    const request = newDelivery(ORG, "d", { builds: [newRequestedBuild(pool.newBuild(), { head: "a" })] });
    expect(pool.refusal("arrive", request)).toBe("unavailable");
    pool.ok("compare", { found: { sequence: 0, complete: 0 } });
    expect(pool.ok("arrive", request)).toMatchObject({ builds: [{ outcome: "made" }], isRepeat: false });
  });

  it("creates as many builds as the queue has room for, and the rest when redelivered", () => {
    const pool = new Hooked();
    pool.model.context.maxQueued = 1;
    const builds = ["p1", "p2"].map((pipelineId) => newRequestedBuild(pool.newBuild(), { head: "a", pipelineId }));
    const request = newDelivery(ORG, "d", { builds });
    const first = pool.ok("arrive", request).builds;
    expect(first.map(({ outcome }) => outcome)).toEqual(["made", "refused"]);
    expect(first[1]).toMatchObject({ buildId: null, reason: expect.stringContaining("1 jobs are already waiting") });
    pool.ok("cancel", { buildId: builds[0]!.id, actor: ACTOR });
    const again = builds.map((build) => ({ ...build, id: `${build.id} again` }));
    expect(pool.ok("arrive", { ...request, builds: again }).builds.map(({ outcome }) => outcome)).toEqual([
      "same",
      "made",
    ]);
  });
});

it("a delivery creates builds in order up to the daily limit, and the rest when redelivered the next day", () => {
  const pool = new Hooked();
  pool.now = Date.UTC(2026, 4, 4, 23, 59);
  pool.model.context.buildsPerDay = 3;
  pool.build();
  const pipelines = ["p1", "p2", "p3", "p4"];
  const asked = (day: string) =>
    newDelivery(ORG, "d", {
      builds: pipelines.map((pipelineId) =>
        newRequestedBuild(pool.newBuild({ id: `${pipelineId} ${day}` }), { head: "a", pipelineId }),
      ),
    });
  const first = pool.ok("arrive", asked("today")).builds;
  expect(first.map(({ outcome }) => outcome)).toEqual(["made", "made", "refused", "refused"]);
  expect(first[3]).toMatchObject({ reason: expect.stringContaining("today: 3 of 3.") });
  pool.now += 60_000;
  expect(pool.ok("arrive", asked("tomorrow")).builds.map(({ outcome }) => outcome)).toEqual([
    ...["same", "same"],
    ...["made", "made"],
  ]);
});

describe("a head", () => {
  it("is built once, whether a push, a pull request or another delivery reports it", () => {
    const pool = new Hooked();
    const buildId = pool.made("b", "a");
    const pull = { number: 4, base: "main", branch: "main", title: null, author: null };
    const asPull = { origin: { ...ORIGIN, event: "pull", pull } } as const;
    expect(pool.push("b", null, asPull)).toMatchObject({ outcome: "same", buildId });
    expect(pool.push("b", "a")).toMatchObject({ outcome: "same", buildId });
  });

  it("is not built if a newer head arrived first, and links that head to earlier ones", () => {
    const pool = new Hooked();
    const [first, third] = [pool.made("a"), pool.made("c", "b")];
    expect(pool.status(first)).toBe("queued");
    expect(pool.push("b", "a")).toMatchObject({ outcome: "late", buildId: null, canceled: [first] });
    expect(pool.row(first)).toMatchObject({ status: "canceled", reason: "superseded", supersededBy: third });
    expect(pool.status(third)).toBe("queued");
  });

  it("is distinct for each pipeline, ref and purpose", () => {
    const pool = new Hooked();
    pool.made("a");
    pool.made("a", null, { pipelineId: "p2" });
    pool.made("a", null, { branch: "refs/tags/v1" });
    pool.made("a", null, { origin: { ...ORIGIN, purpose: "read-file" } });
  });
});

describe("a newer head", () => {
  it("cancels the queued builds of older heads at once, and names the build that superseded them", () => {
    const pool = new Hooked();
    const first = pool.made("a");
    const second = pool.push("b", "a");
    expect(second.canceled).toEqual([first]);
    expect(pool.row(first)).toMatchObject({ status: "canceled", reason: "superseded", supersededBy: second.buildId });
    expect(pool.message(first)).toBe("A newer commit on main took its place: build 2.");
  });

  it("stops the leased builds of older heads, which end as superseded", () => {
    const pool = new Hooked();
    const first = pool.made("a");
    const agent = pool.agent();
    const holder = agent.claimAndStart();
    const second = pool.push("b", "a");
    expect(pool.status(first)).toBe("canceling");
    expect(pool.pushes.at(-1)).toMatchObject({ type: "cancel", buildId: first });
    pool.ok("finish", { ...holder, status: "succeeded", message: "It was stopped." });
    expect(pool.row(first)).toMatchObject({ status: "canceled", reason: "superseded", supersededBy: second.buildId });
    expect(pool.message(first)).toContain("A newer commit on main");
  });

  it.each<[how: string, end: (pool: Hooked) => void]>([
    ["when the lease is lost", (pool) => [61, 61, 61].map((seconds) => pool.advance(seconds))],
    ["when its agent is removed", (pool) => pool.ok("removeAgent", { agentId: "agent", actor: ACTOR })],
  ])("ends older builds as superseded even %s", (_how, end) => {
    const pool = new Hooked();
    const first = pool.made("a");
    pool.agent({ id: "agent" }).claimAndStart();
    pool.made("b", "a");
    end(pool);
    expect(pool.row(first)).toMatchObject({ status: "canceled", reason: "superseded" });
  });

  it("cancels no builds if its pipeline does not supersede", () => {
    const pool = new Hooked();
    pool.made("a");
    expect(pool.push("b", "a", { supersedes: false }).canceled).toEqual([]);
  });

  it("cancels no builds from the API or a retry, and none of another ref or pipeline", () => {
    const pool = new Hooked();
    const others = [
      pool.build({ commitSha: namedSha("a") }),
      pool.build({ commitSha: namedSha("a"), trigger: "retry", retryOf: "x" }),
      pool.made("a", null, { branch: "other" }),
      pool.made("a", null, { pipelineId: "p2" }),
    ];
    pool.made("a");
    pool.made("b", "a");
    expect(others.map((id) => pool.status(id))).toEqual(others.map(() => "queued"));
  });

  it("cancels no builds if the ref may have returned to an earlier commit", () => {
    const pool = new Hooked();
    pool.made("a");
    const second = pool.made("b", "a");
    expect(pool.push("a", "b")).toMatchObject({ outcome: "made", canceled: [] });
    expect(pool.status(second)).toBe("queued");
  });

  it("cancels no builds if the queue rejected it", () => {
    const pool = new Hooked();
    const first = pool.made("a");
    pool.model.context.maxQueued = 1;
    expect(pool.push("b", "a")).toMatchObject({ outcome: "refused", canceled: [] });
    expect(pool.status(first)).toBe("queued");
  });
});

describe("a deleted ref", () => {
  it("ends only the earlier builds of a branch if the branch was created again before the report arrived", () => {
    const pool = new Hooked();
    const first = pool.made("a", null, { supersedes: false });
    const second = pool.made("b", "a", { supersedes: false });
    const again = pool.made("c", null, { supersedes: false });
    expect(pool.gone(null, "refs/heads/main", "b").canceled).toEqual([first, second]);
    expect(pool.facts(again).status).toBe("queued");
    expect(pool.push("c", null)).toMatchObject({ outcome: "same", buildId: again });
    expect(pool.made("a", null, { supersedes: false })).not.toBe(first);
  });

  it("ends all builds of a branch if its last head is unknown", () => {
    const pool = new Hooked();
    const ids = [pool.made("a"), pool.made("b")];
    expect(pool.gone(null, "refs/heads/main", "unknown").canceled).toEqual(ids);
  });

  it("ends its builds, and starts over when it is created again", () => {
    const pool = new Hooked();
    const [first, other] = [pool.made("a"), pool.made("a", null, { branch: "other" })];
    expect(pool.gone().canceled).toEqual([first]);
    expect(pool.row(first)).toMatchObject({ status: "canceled", reason: "canceled" });
    expect(pool.message(first)).toBe("The branch was deleted.");
    expect(pool.status(other)).toBe("queued");
    pool.made("a");
  });

  it("ends no builds from the API", () => {
    const pool = new Hooked();
    pool.build();
    expect(pool.gone().canceled).toEqual([]);
  });

  it("ends no newer builds when the deletion is redelivered", () => {
    const pool = new Hooked();
    const request = newDelivery(ORG, "gone", {
      ended: [{ pipelineId: "pipeline", ref: "refs/heads/main", pull: null }],
    });
    pool.ok("arrive", request);
    const made = pool.made("a");
    expect(pool.ok("arrive", request)).toMatchObject({ canceled: [], isRepeat: true });
    expect(pool.status(made)).toBe("queued");
  });

  it("ends only its own builds if it is a pull request, and builds its head again when reopened", () => {
    const pool = new Hooked();
    const pull = { number: 4, base: "main", branch: "main", title: null, author: null };
    const asPull = { supersedes: false, origin: { ...ORIGIN, event: "pull", pull } } as const;
    const pushed = pool.made("a");
    const pulled = pool.made("b", null, asPull);
    expect(pool.gone(4).canceled).toEqual([pulled]);
    expect(pool.message(pulled)).toBe("The pull request was closed.");
    expect(pool.status(pushed)).toBe("queued");
    expect(pool.push("a").outcome).toBe("same");
    pool.made("b", null, asPull);
  });
});

describe("a pull request whose head was already pushed", () => {
  const PULL = { number: 4, base: "next", branch: "main", title: "Mend it", author: "ann" };
  const paths = ["src/**"];
  const opened = (over: Partial<BuildOrigin> = {}) =>
    ({ origin: { ...ORIGIN, event: "pull", pull: PULL, paths, ...over } }) as const;
  const originOf = (pool: Hooked, id: string) => pool.row(id).origin;

  it("takes over a build that has not started, as if the pull request had arrived first", () => {
    const pool = new Hooked();
    const id = pool.made("b", "a");
    const { version } = pool.row(id);
    expect(pool.push("b", null, opened())).toMatchObject({ outcome: "same", buildId: id });
    expect(originOf(pool, id)).toEqual({ ...ORIGIN, before: namedSha("a"), event: "pull", pull: PULL, paths });
    expect(pool.row(id).version).toBeGreaterThan(version);
    const first = new Hooked();
    const same = first.push("b", null, opened()).buildId!;
    first.push("b", "a");
    expect(originOf(first, same)).toEqual({ ...originOf(pool, id), before: null });
  });

  it("takes over a running build, which continues unchanged and ends with the pull request", () => {
    const pool = new Hooked();
    const id = pool.made("b", "a");
    pool.agent().claimAndStart();
    pool.push("b", null, opened());
    expect(originOf(pool, id)).toEqual({ ...ORIGIN, before: namedSha("a"), pull: PULL });
    expect(pool.gone(5).canceled).toEqual([]);
    expect(pool.gone(4).canceled).toEqual([id]);
  });

  it("does not change a build that has ended", () => {
    const pool = new Hooked();
    const id = pool.made("b", "a");
    pool.ok("finish", { ...pool.agent().claimAndStart(), status: "succeeded" });
    const ended = pool.row(id);
    expect(pool.push("b", null, opened())).toMatchObject({ outcome: "same", buildId: id });
    expect(pool.row(id)).toEqual(ended);
  });

  it("leaves a build to the pull request that created it", () => {
    const pool = new Hooked();
    const id = pool.push("b", null, opened()).buildId!;
    pool.push("b", null, opened({ pull: { ...PULL, number: 3 } }));
    pool.push("b", "a");
    expect(originOf(pool, id)).toMatchObject({ event: "pull", pull: PULL });
  });
});

describe("the git host", () => {
  const due = (pool: Hooked) => [...pool.model.state.outbox.hosts.due.keys()];
  const tell = (pool: Hooked, buildId: string, state: "pending" | "success" | "error") =>
    pool.ok("recordDelivery", { channel: "hosts", ...nothingDelivered(), builds: [{ buildId, state }] });

  it("is notified when a build waits and when it ends, not between", () => {
    const pool = new Hooked();
    const buildId = pool.made("a");
    expect(due(pool)).toEqual([buildId]);
    tell(pool, buildId, "pending");
    const holder = pool.agent().claimAndStart();
    expect(due(pool)).toEqual([]);
    expect(pool.row(buildId).toldHost).toBe("pending");
    pool.ok("finish", { ...holder, status: "succeeded" });
    expect(due(pool)).toEqual([buildId]);
    tell(pool, buildId, "pending");
    expect(due(pool)).toEqual([buildId]);
    tell(pool, buildId, "success");
    expect(due(pool)).toEqual([]);
  });

  it("is notified of an end even if it got the same state for an earlier version", () => {
    const pool = new Hooked();
    const buildId = pool.made("a");
    const before = pool.row(buildId).version;
    const told = (version: number) =>
      pool.ok("recordDelivery", {
        channel: "hosts",
        ...nothingDelivered(),
        builds: [{ buildId, state: "error", version }],
      });
    pool.ok("cancel", { buildId, actor: ACTOR });
    told(before);
    expect(due(pool)).toEqual([buildId]);
    told(pool.row(buildId).version);
    expect(due(pool)).toEqual([]);
  });

  it("is notified of a build once its agent finds the commit", () => {
    const pool = new Hooked();
    const buildId = pool.build({ host: HOST });
    const holder = pool.agent().claimAndStart();
    expect(due(pool)).toEqual([]);
    pool.ok("progress", { ...holder, commitSha: namedSha("f") });
    expect(due(pool)).toEqual([buildId]);
  });

  it("is retried after 2 seconds, then 4, up to 60, and a new state is sent without that delay", () => {
    const pool = new Hooked();
    pool.made("a");
    const delays = [1, 2, 3, 4, 5, 6, 7].map(() => {
      pool.ok("recordDelivery", { channel: "hosts", ...nothingDelivered(true) });
      return (pool.model.state.outbox.hosts.at! - pool.now) / 1000;
    });
    expect(delays).toEqual([2, 4, 8, 16, 32, 60, 60]);
    pool.ok("cancel", { buildId: pool.made("b", "a"), actor: ACTOR });
    expect(pool.model.state.outbox.hosts.at! - pool.now).toBe(1_000);
  });

  it("is not notified of a deleted build", () => {
    const pool = new Hooked();
    const buildId = pool.made("a");
    pool.ok("cancel", { buildId, actor: ACTOR });
    const seen = { repoId: "repo", number: 1, finishedAt: pool.now };
    pool.ok("deleteBuild", { buildId, deleted: "build", seen, actor: ACTOR });
    expect(due(pool)).toEqual([]);
  });

  it("is notified of pending states after an eviction, and not again of delivered ones", () => {
    const pool = new Hooked();
    const [untold, told] = [pool.made("a"), pool.made("a", null, { branch: "other" })];
    tell(pool, told, "pending");
    pool.ok("cancel", { buildId: told, actor: ACTOR });
    tell(pool, told, "error");
    const builds = [{ buildId: told, version: pool.row(told).version }];
    pool.ok("recordDelivery", { channel: "lists", ...nothingDelivered(), builds });
    pool.model.reload(pool.now);
    expect(due(pool)).toEqual([untold]);
  });
});
