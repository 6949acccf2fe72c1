import { expect, it } from "vitest";
import { withMessages } from "../../src/services/explain.ts";

const UUID = "00000000-0000-7000-8000-000000000001";

it("an explanation of a pool that answers only words gets its messages from them", () => {
  const agents = [{ agentId: UUID, name: "mill", codes: [], words: "mill could take it now." }];
  const groups = [{ codes: [], agents: 1, online: 1, words: "1 agent could take it now." }];
  const answer = { buildId: UUID, status: "queued", code: "next", words: "It is next.", ahead: 0, groups, agents };
  const {
    message,
    groups: [group] = [],
    agents: [agent],
  } = withMessages(answer as never);
  expect([message, group?.message, agent?.message]).toEqual([answer.words, groups[0]?.words, agents[0]?.words]);
});
