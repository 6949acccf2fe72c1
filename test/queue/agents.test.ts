import { describe, expect, it } from "vitest";
import { toAgent } from "../../src/queue/read/record.ts";
import { ORG, TestPool } from "./test-pool.ts";

const by = (tokenId: string, kind: "registration" | "api" = "registration") => ({
  registeredBy: { tokenId, kind, name: "a test" },
});

describe("an agent", () => {
  it("can be registered a thousand times with one registration token, and again after some are removed", () => {
    const pool = new TestPool();
    const agents = Array.from({ length: 1000 }, () => pool.agent(by("leaked")));
    const another = { ...pool.newAgent(), ...by("leaked") };
    expect(pool.refusal("registerAgent", another)).toBe("limit-reached");
    pool.agent(by("another"));
    pool.agent(by("a person", "api"));
    pool.ok("removeAgent", { agentId: agents[0]!.id, actor: another.actor });
    pool.ok("registerAgent", another);
  });

  it("shows registeredBy as null if an older release stored it without one", () => {
    const pool = new TestPool();
    const { id } = pool.agent(by("token"));
    const { registeredBy: _, ...facts } = pool.model.state.agents.get(id)!;
    expect(toAgent(pool.model.state, ORG, facts, pool.now).registeredBy).toBeNull();
    expect(toAgent(pool.model.state, ORG, { ...facts, ...by("token") }, pool.now).registeredBy?.tokenId).toBe("token");
  });
});
