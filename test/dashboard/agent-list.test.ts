import { describe, expect, it } from "vitest";
import { selectAgents } from "../../src/dashboard/agent-list.ts";
import { AGENT_STATUS, type Agent } from "../../src/protocol/agent.ts";

const AT = "2026-11-21T12:00:00.000Z";

const agent = (name: string, state: keyof typeof AGENT_STATUS, labels: string[] = []): Agent => ({
  id: crypto.randomUUID(),
  orgId: "acme",
  name,
  platform: 2,
  status: AGENT_STATUS[state],
  labels,
  canBuildIOS: false,
  canBuildAndroid: false,
  canBuildWeb: true,
  version: null,
  isEphemeral: false,
  isOnline: state !== "offline",
  isDraining: state === "draining",
  currentBuildId: null,
  lastHeartbeatAt: AT,
  createdAt: AT,
  registeredBy: null,
  features: [],
  xcodes: [],
});

const FLEET = [
  ...Array.from({ length: 120 }, (_, index) => agent(`away-${String(index).padStart(3, "0")}`, "offline")),
  agent("mill", "idle", ["big"]),
  agent("heath", "busy"),
  agent("dale", "draining", ["big"]),
];

const shown = (query: string) => selectAgents(FLEET, new URLSearchParams(query));
const names = (query: string) => shown(query).shown.map(({ name }) => name);

describe("the agents of a page", () => {
  it("are fifty at most, those that are there before those that are away, by name", () => {
    expect(names("").slice(0, 4)).toEqual(["dale", "heath", "mill", "away-000"]);
    expect(names("")).toHaveLength(50);
    expect(names("page=3")).toHaveLength(23);
    expect(shown("page=3")).toMatchObject({ page: 3, pages: 3, matches: 123 });
  });

  it.each(["page=99", "page=-1", "page=x", "page=1.5"])("are some page whatever is asked: %s", (query) => {
    expect(names(query).length).toBeGreaterThan(0);
  });

  it("are found by name, label, platform and state, and counted by state", () => {
    expect(names("q=BIG")).toEqual(["dale", "mill"]);
    expect(names("q=big&state=idle")).toEqual(["mill"]);
    expect(names("q=linux&state=busy")).toEqual(["heath"]);
    expect(names("state=bogus")).toHaveLength(50);
    expect([...shown("").counts]).toEqual([
      ["busy", 1],
      ["idle", 1],
      ["draining", 1],
      ["offline", 120],
    ]);
    expect(shown("q=big&state=idle").counts.get("draining")).toBe(1);
  });
});
