import { describe, expect, it } from "vitest";
import { isOlder, selectAgents } from "../../../src/dashboard/agents/agent-list.ts";
import { LongGone } from "../../../src/dashboard/agents/agents.tsx";
import { AGENT_STATUS, type Agent } from "../../../src/protocol/agent.ts";

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

const shown = (query: string) => selectAgents(FLEET, new URLSearchParams(query), new Date(AT));
const names = (query: string) => shown(query).rows.map(({ name }) => name);

describe("selectAgents", () => {
  it("returns at most fifty agents, online ones first, sorted by name", () => {
    expect(names("").slice(0, 4)).toEqual(["dale", "heath", "mill", "away-000"]);
    expect(names("")).toHaveLength(50);
    expect(names("page=3")).toHaveLength(23);
    expect(shown("page=3")).toMatchObject({ page: 3, pages: 3, matches: 123 });
  });

  it.each(["page=99", "page=-1", "page=x", "page=1.5"])("returns agents for any page number: %s", (query) => {
    expect(names(query).length).toBeGreaterThan(0);
  });

  it("filters agents by name, label, platform and state, and counts them by state", () => {
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

describe("long-gone agents", () => {
  const NOW = new Date("2026-11-21T12:00:00.000Z");
  const heardOf = (name: string, daysAgo: number, state: keyof typeof AGENT_STATUS = "offline") => ({
    ...agent(name, state),
    lastHeartbeatAt: new Date(NOW.getTime() - daysAgo * 24 * 60 * 60 * 1000).toISOString(),
  });
  const MANY = [
    ...Array.from({ length: 60 }, (_, index) => heardOf(`gone-${index}`, 8 + index)),
    ...[heardOf("lately", 6.9), heardOf("waits", 20, "idle")],
  ];
  const select = (query: string) => selectAgents(MANY, new URLSearchParams(query), NOW);

  it("are folded after a week, latest first, unless the page filters for offline agents", () => {
    expect(select("").rows.map(({ name }) => name)).toEqual(["waits", "lately"]);
    expect(select("")).toMatchObject({ pages: 1, total: 62, matches: 62 });
    expect(select("").longGone).toHaveLength(60);
    expect(select("").longGone[0]?.name).toBe("gone-0");
    expect(select("").counts.get("offline")).toBe(61);
    expect(select("state=offline").longGone).toEqual([]);
    expect(select("state=offline")).toMatchObject({ pages: 2, matches: 61 });
    expect(select("q=gone-7").longGone.map(({ name }) => name)).toEqual(["gone-7"]);
  });

  it("are counted in the summary, and twenty of them are listed", () => {
    const fold = LongGone({ agents: select("").longGone, now: NOW, all: "/app/agents?state=offline" })?.html ?? "";
    expect(fold).toContain("<summary>60 agents not seen for over a week</summary>");
    expect(fold).toContain('href="/app/agents?state=offline"');
    expect(fold.match(/<li/g)).toHaveLength(20);
    expect(LongGone({ agents: [], now: NOW, all: "" })).toBeNull();
  });
});

describe("outdated agents", () => {
  it.each<[string | null, boolean]>([
    ["0.9.0", true],
    ["0.9.12", true],
    ["0.10.0", false],
    ["0.10.1", false],
    ["1.0.0", false],
    ["of my own", false],
    [null, false],
  ])("version %s is older than 0.10.0: %s", (version, expected) => {
    expect(isOlder(version, "0.10.0")).toBe(expected);
  });

  it("are counted, and listed by the version filter", () => {
    const versions = [
      { ...agent("old", "idle"), version: "0.0.1" },
      { ...agent("new", "idle"), version: "99.0.0" },
    ];
    const select = (query: string) => selectAgents(versions, new URLSearchParams(query), new Date(AT));
    expect(select("").older).toBe(1);
    expect(select("version=older").rows.map(({ name }) => name)).toEqual(["old"]);
    expect(select("version=bogus").rows).toHaveLength(2);
  });
});
