import { describe, expect, it } from "vitest";
import { toAgent } from "../../../src/domain/pool/record.ts";
import { Bench, ORG } from "./test-pool.ts";

const by = (tokenId: string, kind: "registration" | "api" = "registration") => ({
  registeredBy: { tokenId, kind, name: "of a test" },
});

describe("an agent", () => {
  it("is registered by one registration token a thousand times, until some of its agents are gone", () => {
    const bench = new Bench();
    const agents = Array.from({ length: 1000 }, () => bench.agent(by("leaked")));
    const another = { ...bench.wantedAgent(), ...by("leaked") };
    expect(bench.refusal("registerAgent", another)).toBe("limit-reached");
    bench.agent(by("another"));
    bench.agent(by("a person", "api"));
    bench.ok("removeAgent", { agentId: agents[0]!.id, actor: another.actor });
    bench.ok("registerAgent", another);
  });

  it("of before it was kept who registers has a record all the same", () => {
    const bench = new Bench();
    const { id } = bench.agent(by("token"));
    const { registeredBy: _, ...facts } = bench.pool.state.agents.get(id)!;
    expect(toAgent(bench.pool.state, ORG, facts, bench.now).registeredBy).toBeNull();
    expect(toAgent(bench.pool.state, ORG, { ...facts, ...by("token") }, bench.now).registeredBy?.tokenId).toBe("token");
  });
});
