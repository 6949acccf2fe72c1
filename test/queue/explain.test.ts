import { describe, expect, it } from "vitest";
import { isEnded } from "../../src/protocol/build-states.ts";
import { Explanation, sentence } from "../../src/protocol/explain.ts";
import { Metrics } from "../../src/protocol/metrics.ts";
import { measure } from "../../src/queue/metrics/metrics.ts";
import { toPrometheus } from "../../src/queue/metrics/prometheus.ts";
import { explain } from "../../src/queue/read/explain.ts";
import { explainBuild, explainEach, explainEnded } from "../../src/queue/read/explain-jobs.ts";
import { ACTOR, ORG, TestPool } from "./test-pool.ts";

const UUID = "00000000-0000-7000-8000-0000000000";
const uuid = (last: number) => `${UUID}${String(last).padStart(2, "0")}`;

const explained = (pool: TestPool, buildId: string) => {
  const { state, context, storage } = pool.model;
  const build = storage.rows.builds.get(buildId)!;
  const at = { ...context, now: pool.now };
  return Explanation.parse(isEnded(build.status) ? explainEnded(build) : explainBuild(state, build, at, () => 0));
};

describe("explain", () => {
  it("gives the reasons for each agent, as codes and as a message", () => {
    const pool = new TestPool();
    const away = pool.agent({ id: uuid(1), name: "away" });
    pool.now += 90_000;
    const lacking = pool.agent({ id: uuid(2), name: "pi", platform: 0 });
    const draining = pool.agent({ id: uuid(3), name: "old", labels: ["gpu"], canBuildIOS: true, platform: 1 });
    pool.ok("updateAgent", { agentId: draining.id, change: { isDraining: true }, actor: ACTOR });
    const build = pool.build({ id: uuid(9), requires: { platform: "macos", ios: true, labels: ["gpu", "x"] } });
    const { code, agents, message } = explained(pool, build);
    expect(code).toBe("no-capable-agent");
    expect(message).toBe("No registered agent meets these requirements.");
    expect(agents.map(({ name, codes }) => [name, codes])).toEqual([
      ["old", ["labels", "draining"]],
      ["pi", ["platform", "canBuildIOS", "labels"]],
      ["away", ["platform", "canBuildIOS", "labels", "offline"]],
    ]);
    expect(agents[1]?.message).toBe(
      "pi is on another platform, not macOS, cannot build for iOS, lacks the labels gpu, x.",
    );
    expect(agents.map(({ agentId }) => agentId)).toEqual([draining.id, lacking.id, away.id]);
  });

  it("shows the requirements, and groups agents with equal reasons", () => {
    const pool = new TestPool();
    for (let index = 0; index < 1200; index += 1) pool.agent({ id: `away-${index}`, name: `fleet-${index}` });
    pool.now += 90_000;
    pool.agent({ id: "here", name: "here" });
    pool.agent({ id: "mac", name: "mac", platform: 1, labels: ["nope"] });
    const build = pool.build({ id: uuid(9), requires: { labels: ["nope"] } });
    const { state, context, storage } = pool.model;
    const facts = storage.rows.builds.get(build)!;
    const at = { ...context, now: pool.now };
    const { requires, groups } = explain(state, { build: facts, job: storage.rows.jobs.get(build)! }, at, () => 0);
    expect(requires).toMatchObject({ labels: ["nope"] });
    expect(groups).toEqual([
      { codes: [], agents: 1, online: 1, ...sentence("1 agent could take it now.") },
      {
        codes: ["labels"],
        agents: 1201,
        online: 1,
        ...sentence("1,201 agents lack the label nope (1 online)."),
      },
    ]);
  });

  it("says that there are no Windows agents yet", () => {
    const pool = new TestPool();
    pool.agent({ id: uuid(1), name: "pi" });
    const build = pool.build({ id: uuid(2), requires: { platform: "windows" } });
    expect(explained(pool, build).message).toMatch(/requirements\. There is no agent for Windows yet\.$/);
  });

  it("names the first reason that applies to the whole build", () => {
    const pool = new TestPool();
    const build = pool.build({ id: uuid(1), maxParallel: 1 });
    const next = pool.build({ id: uuid(2), maxParallel: 1 });
    expect(explained(pool, build).code).toBe("no-agents");
    const agent = pool.agent({ id: uuid(3), name: "mill" });
    expect(explained(pool, build)).toMatchObject({ code: "next", ahead: 0 });
    expect(explained(pool, next)).toMatchObject({ code: "behind-others", ahead: 1 });
    const grant = agent.claim()!;
    expect(explained(pool, build)).toMatchObject({ code: "assigned", agents: [], ahead: null });
    pool.ok("unclaim", { ...grant, notBefore: pool.now + 5_000 });
    expect(explained(pool, build).code).toBe("dependency-away");
    pool.advance(5);
    const holder = agent.claimAndStart();
    expect(explained(pool, build)).toMatchObject({ code: "running", message: "It runs on mill." });
    expect(explained(pool, next)).toMatchObject({ code: "max-parallel", agents: [{ codes: ["busy"] }] });
    pool.ok("cancel", { buildId: build, actor: ACTOR });
    expect(explained(pool, build).code).toBe("canceling");
    pool.ok("finish", { ...holder, status: "canceled" });
    expect(explained(pool, build)).toMatchObject({ code: "ended", message: "It has ended: canceled (canceled)." });
  });

  it("says how long the pool pauses, for every build", () => {
    const pool = new TestPool();
    const [build, other] = [pool.build({ id: uuid(1) }), pool.build({ id: uuid(2) })];
    const agent = pool.agent({ id: uuid(3), name: "mill" });
    for (const seconds of [1, 2, 4]) {
      pool.ok("unclaim", { ...agent.claim()!, notBefore: 0, isAway: true });
      for (const id of [build, other])
        expect(explained(pool, id)).toMatchObject({
          code: "dependency-away",
          message: `No builds start because part of the service is unavailable. The pool retries within ${seconds} s.`,
        });
      pool.advance(seconds);
    }
    pool.ok("deliver", { ...agent.claim()!, agentId: agent.id, environment: [] });
    expect(explained(pool, build).message).not.toContain("No build");
  });

  it("names an agent that released the build, and one that is unresponsive", () => {
    const pool = new TestPool();
    const [picky, sleepy] = [pool.agent({ id: uuid(1) }), pool.agent({ id: uuid(2) })];
    const build = pool.build({ id: uuid(3) });
    pool.ok("release", { ...picky.claimAndStart(), reason: "no" });
    for (const _ of [1, 2]) {
      sleepy.claim();
      pool.advance(30);
    }
    const codes = explained(pool, build).agents.map(({ agentId, codes: why }) => [agentId, why]);
    expect(codes).toEqual([
      [picky.id, ["gave-it-back"]],
      [sleepy.id, ["unresponsive"]],
    ]);
  });
});

describe("metrics", () => {
  const pool = new TestPool();
  const mac = { platform: 1, canBuildIOS: true };
  for (const skills of [mac, mac, {}]) pool.agent({ ...skills });
  pool.now += 30_000;
  const worker = pool.agent({ ...mac });
  pool.build({ requires: { ios: true } });
  worker.claimAndStart();
  pool.build({ requires: { ios: true, labels: ["a=b"] } });
  pool.build({ requires: { ios: true } });
  pool.now += 10_000;
  pool.agent({ labels: ["fresh"] });
  const { state, context } = pool.model;
  const metrics = Metrics.parse(measure(state, ORG, { ...context, now: pool.now }, 2, () => 0));

  it("count builds, agents, and the capacity for each set of requirements", () => {
    expect(metrics.builds).toEqual({ waiting: 2, assigned: 0, running: 1, canceling: 0 });
    expect(metrics.agents).toEqual({ registered: 5, online: 5, idle: 4, busy: 1, draining: 0, offline: 0 });
    expect(metrics.oldestWaitSeconds).toBe(10);
    const kinds = metrics.byRequirement.map(({ waiting, running, agents, idle }) => ({
      waiting,
      running,
      agents,
      idle,
    }));
    expect(kinds).toEqual([
      { waiting: 1, running: 1, agents: 3, idle: 2 },
      { waiting: 1, running: 0, agents: 0, idle: 0 },
    ]);
    expect(metrics.outbox).toMatchObject({ deadLetters: 2, parked: 2 });
  });

  it("are valid Prometheus text: help, type, and escaped labels", () => {
    expect(toPrometheus({ ...metrics, orgId: 'a"\\\n' })).toContain('{org="a\\"\\\\\\n"} 10');
    const text = toPrometheus(metrics);
    expect(text).toContain('millrace_builds{org="acme",status="waiting"} 2\n');
    expect(text).toContain('millrace_agents{org="acme",state="idle"} 4\n');
    expect(text).toContain('millrace_required_waiting{org="acme",platform="",capabilities="ios",labels="a=b"} 1\n');
    const lines = text.trimEnd().split("\n");
    const sample = /^millrace_[a-z_]+\{[a-z]+="[^\n]*"\} [\d.]+$/;
    for (const line of lines)
      expect(line.startsWith("# HELP ") || line.startsWith("# TYPE ") || sample.test(line)).toBe(true);
  });
});

describe("the explanations for a list of builds", () => {
  it("match each build's own explanation, and check the agents once for each set of requirements", () => {
    const pool = new TestPool();
    for (let index = 0; index < 30; index += 1) pool.agent({ id: uuid(60 + index), name: `agent-${index}` });
    const plain = Array.from({ length: 20 }, (_, index) => pool.build({ id: uuid(10 + index) }));
    const labelled = Array.from({ length: 20 }, (_, index) =>
      pool.build({ id: uuid(40 + index), requires: { labels: ["gpu"] } }),
    );
    const { state, context } = pool.model;
    let looks = 0;
    const ids = [...plain, ...labelled, "of another pool"];
    const said = explainEach(state, ids, { ...context, now: pool.now }, () => {
      looks += 1;
      return 0;
    });
    expect([...said.keys()]).toEqual([...plain, ...labelled]);
    for (const [id, message] of said) expect(message).toBe(explained(pool, id).message);
    expect(new Set(said.values()).size).toBeGreaterThan(2);
    expect(looks).toBe(2 * 30);
  });

  it("cover only waiting builds, with at most ten sets of requirements", () => {
    const pool = new TestPool();
    const agent = pool.agent();
    const running = pool.build({ id: uuid(1) });
    agent.claimAndStart();
    const ids = Array.from({ length: 12 }, (_, index) =>
      pool.build({ id: uuid(10 + index), requires: { labels: [`label-${index}`] } }),
    );
    const { state, context } = pool.model;
    const said = explainEach(state, [running, ...ids], { ...context, now: pool.now }, () => 0);
    expect([...said.keys()]).toEqual(ids.slice(0, 10));
  });
});
