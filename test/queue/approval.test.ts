import { describe, expect, it } from "vitest";
import type { NewBuild } from "../../src/queue/commands/commands.ts";
import { graphJob } from "./jobs/test-build.ts";
import { newGraph, SHA } from "./planned-builds.ts";
import { ACTOR, TestPool } from "./test-pool.ts";

const DAY_SECONDS = 86_400;
const FORK: Partial<NewBuild> = { trust: "untrusted", needsApproval: true, commitSha: SHA, branch: "refs/pull/7/head" };
const MEMBER = { role: "member", name: "Ada", comment: null, actor: ACTOR } as const;

/** Creates a pool with an agent for untrusted builds. `poll` returns the job that the agent gets. */
const stage = () => {
  const pool = new TestPool();
  const agent = pool.agent({ labels: ["untrusted"] });
  const poll = () =>
    pool.ok("claim", { ...agent.credentials, bootId: agent.bootId, features: ["untrusted"] })?.jobId ?? null;
  return { pool, poll };
};

describe("a build that requires approval of its commit", () => {
  it("goes to no agent before the approval, and then only to an agent with the label", () => {
    const { pool, poll } = stage();
    const id = pool.build(FORK);
    expect(poll()).toBeNull();
    const person = { ...MEMBER, id, approved: true };
    expect(pool.refusal("decideGate", { ...person, role: "viewer" })).toBe("forbidden");
    expect(pool.refusal("decideGate", { ...person, commitSha: "b".repeat(40) })).toBe("conflict");
    expect(poll()).toBeNull();
    pool.ok("decideGate", { ...person, commitSha: SHA });
    pool.ok("decideGate", person);
    expect(pool.refusal("decideGate", { ...person, approved: false })).toBe("conflict");
    expect(pool.agent().claimId()).toBeNull();
    expect(poll()).toBe(id);
  });

  it("ends when it is rejected, or after 30 days without a decision", () => {
    const { pool, poll } = stage();
    const [rejected, forgotten, approved] = [1, 2, 3].map(() => pool.build(FORK));
    pool.ok("decideGate", { ...MEMBER, id: rejected!, approved: false, comment: "mines coins" });
    expect(pool.facts(rejected!)).toMatchObject({ status: "canceled", reason: "gate-closed" });
    expect(pool.message(rejected!)).toBe("Ada rejected it: mines coins");
    pool.ok("decideGate", { ...MEMBER, id: approved!, approved: true });
    pool.advance(29 * DAY_SECONDS);
    expect(pool.status(forgotten!)).toBe("queued");
    pool.advance(2 * DAY_SECONDS);
    expect(pool.facts(forgotten!)).toMatchObject({ status: "canceled", reason: "gate-closed" });
    expect(pool.message(forgotten!)).toContain("30 days");
    expect(poll()).toBe(approved);
  });

  it("ends with its jobs when it is rejected or not decided, even if it came with a plan", () => {
    const { pool, poll } = stage();
    const planned = (id: string) => ({
      graph: newGraph(id, [graphJob("a"), graphJob("b")]),
      text: "text",
      adopted: {},
    });
    const [rejected, forgotten] = ["rejected", "forgotten"].map((id) =>
      pool.build({ ...FORK, id, planned: planned(id) }),
    );
    expect(poll()).toBeNull();
    pool.ok("decideGate", { ...MEMBER, id: rejected!, approved: false, comment: "mines coins" });
    expect(pool.message(rejected!)).toBe("Ada rejected it: mines coins");
    pool.advance(31 * DAY_SECONDS);
    for (const id of [rejected!, forgotten!]) {
      expect(pool.facts(id)).toMatchObject({ status: "canceled", reason: "gate-closed" });
      expect(["a", "b"].map((key) => pool.status(`${id}/${key}`))).toEqual(["canceled", "canceled"]);
    }
    expect(poll()).toBeNull();
  });

  it("is canceled when D1 is restored, unless it was approved", () => {
    const { pool } = stage();
    const [held, approved] = [pool.build(FORK), pool.build(FORK)];
    pool.ok("decideGate", { ...MEMBER, id: approved, approved: true });
    pool.ok("databaseRestored", null);
    expect(pool.facts(held)).toMatchObject({ status: "canceled", reason: "gate-closed" });
    expect(pool.status(approved)).toBe("queued");
  });

  it("takes no queue space from other builds, and a repository has at most a hundred of them", () => {
    const { pool } = stage();
    pool.model.context.maxQueued = 3;
    for (let made = 0; made < 100; made++) pool.build({ ...FORK, repoId: "popular" });
    expect(pool.refusal("enqueue", pool.newBuild({ ...FORK, repoId: "popular" }))).toBe("limit-reached");
    pool.build({ ...FORK, repoId: "other" });
    for (let made = 0; made < 3; made++) pool.build();
    expect(pool.refusal("enqueue", pool.newBuild())).toBe("limit-reached");
  });

  it("is untrusted and waits again as a retry, whatever the service says", () => {
    const { pool, poll } = stage();
    const first = pool.build({ ...FORK, needsApproval: false });
    expect(poll()).toBe(first);
    pool.ok("cancel", { buildId: first, actor: ACTOR });
    pool.advance(DAY_SECONDS / 2);
    const again = pool.build({ retryOf: first, trigger: "retry", commitSha: SHA });
    expect(pool.model.state.builds.get(again)).toMatchObject({ trust: "untrusted", approval: { decision: null } });
    expect(poll()).toBeNull();
  });
});

it("an agent for untrusted builds gets a trusted one only if the build requires the label", () => {
  const { pool, poll } = stage();
  pool.build();
  expect(poll()).toBeNull();
  const asking = pool.build({ requires: { labels: ["untrusted"] } });
  expect(poll()).toBe(asking);
});
