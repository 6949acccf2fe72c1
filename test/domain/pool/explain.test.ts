import { describe, expect, it } from "vitest";
import { explain } from "../../../src/domain/pool/explain.ts";
import { measure } from "../../../src/domain/pool/metrics.ts";
import { toPrometheus } from "../../../src/domain/pool/prometheus.ts";
import { Explanation } from "../../../src/protocol/explain.ts";
import { Metrics } from "../../../src/protocol/metrics.ts";
import { ACTOR, Bench, ORG } from "./bench.ts";

const UUID = "00000000-0000-7000-8000-0000000000";
const uuid = (last: number) => `${UUID}${String(last).padStart(2, "0")}`;

const explained = (bench: Bench, buildId: string) => {
  const { state, context, storage } = bench.pool;
  const build = storage.rows.builds.get(buildId)!;
  return Explanation.parse(
    explain(state, build, storage.rows.jobs.get(buildId)!, { ...context, now: bench.now }, () => 0),
  );
};

describe("explain", () => {
  it("says for each agent what keeps it from the build, in codes and words", () => {
    const bench = new Bench();
    const away = bench.agent({ id: uuid(1), name: "away" });
    bench.now += 90_000;
    const lacking = bench.agent({ id: uuid(2), name: "pi", platform: 0 });
    const draining = bench.agent({ id: uuid(3), name: "old", labels: ["gpu"], canBuildIOS: true, platform: 1 });
    bench.ok("updateAgent", { agentId: draining.id, change: { isDraining: true }, actor: ACTOR });
    const build = bench.build({ id: uuid(9), requires: { platform: "macos", ios: true, labels: ["gpu", "x"] } });
    const { code, agents, words } = explained(bench, build);
    expect(code).toBe("no-capable-agent");
    expect(words).toBe("No registered agent has what this build requires.");
    expect(agents.map(({ name, codes }) => [name, codes])).toEqual([
      ["old", ["labels", "draining"]],
      ["pi", ["platform", "canBuildIOS", "labels"]],
      ["away", ["platform", "canBuildIOS", "labels", "offline"]],
    ]);
    expect(agents[1]?.words).toBe(
      "pi is on another platform, not macOS, cannot build for iOS, lacks the labels gpu, x.",
    );
    expect(agents.map(({ agentId }) => agentId)).toEqual([draining.id, lacking.id, away.id]);
  });

  it("says what is required, and puts agents together that the same keeps from it", () => {
    const bench = new Bench();
    for (let index = 0; index < 1200; index += 1) bench.agent({ id: `away-${index}`, name: `fleet-${index}` });
    bench.now += 90_000;
    bench.agent({ id: "here", name: "here" });
    bench.agent({ id: "mac", name: "mac", platform: 1, labels: ["nope"] });
    const build = bench.build({ id: uuid(9), requires: { labels: ["nope"] } });
    const { state, context, storage } = bench.pool;
    const facts = storage.rows.builds.get(build)!;
    const at = { ...context, now: bench.now };
    const { requires, groups } = explain(state, facts, storage.rows.jobs.get(build)!, at, () => 0);
    expect(requires).toMatchObject({ labels: ["nope"] });
    expect(groups).toEqual([
      { codes: [], agents: 1, online: 1, words: "1 agent could take it now." },
      { codes: ["labels"], agents: 1201, online: 1, words: "1,201 agents lack the label nope (1 of them online)." },
    ]);
  });

  it("says that a build for Windows waits for what there is not", () => {
    const bench = new Bench();
    bench.agent({ id: uuid(1), name: "pi" });
    const build = bench.build({ id: uuid(2), requires: { platform: "windows" } });
    expect(explained(bench, build).words).toMatch(/requires\. There is no agent for Windows yet\.$/);
  });

  it("names the most binding reason of the whole wait", () => {
    const bench = new Bench();
    const build = bench.build({ id: uuid(1), maxParallel: 1 });
    const next = bench.build({ id: uuid(2), maxParallel: 1 });
    expect(explained(bench, build).code).toBe("no-agents");
    const agent = bench.agent({ id: uuid(3), name: "mill" });
    expect(explained(bench, build)).toMatchObject({ code: "next", ahead: 0 });
    expect(explained(bench, next)).toMatchObject({ code: "behind-others", ahead: 1 });
    const grant = agent.claim()!;
    expect(explained(bench, build)).toMatchObject({ code: "assigned", agents: [], ahead: null });
    bench.ok("unclaim", { ...grant, notBefore: bench.now + 5_000 });
    expect(explained(bench, build).code).toBe("dependency-away");
    bench.pass(5);
    const holder = agent.work();
    expect(explained(bench, build)).toMatchObject({ code: "running", words: "It runs on mill." });
    expect(explained(bench, next)).toMatchObject({ code: "max-parallel", agents: [{ codes: ["busy"] }] });
    bench.ok("cancel", { buildId: build, actor: ACTOR });
    expect(explained(bench, build).code).toBe("canceling");
    bench.ok("finish", { ...holder, status: "canceled" });
    expect(explained(bench, build)).toMatchObject({ code: "ended", words: "It has ended: canceled (canceled)." });
  });

  it("tells of an agent that gave it back and of one that is unresponsive", () => {
    const bench = new Bench();
    const [picky, sleepy] = [bench.agent({ id: uuid(1) }), bench.agent({ id: uuid(2) })];
    const build = bench.build({ id: uuid(3) });
    bench.ok("release", { ...picky.work(), reason: "no" });
    for (const _ of [1, 2]) {
      sleepy.claim();
      bench.pass(30);
    }
    const codes = explained(bench, build).agents.map(({ agentId, codes: why }) => [agentId, why]);
    expect(codes).toEqual([
      [picky.id, ["gave-it-back"]],
      [sleepy.id, ["unresponsive"]],
    ]);
  });
});

describe("metrics", () => {
  const bench = new Bench();
  const mac = { platform: 1, canBuildIOS: true };
  for (const skills of [mac, mac, {}]) bench.agent({ ...skills });
  bench.now += 30_000;
  const worker = bench.agent({ ...mac });
  bench.build({ requires: { ios: true } });
  worker.work();
  bench.build({ requires: { ios: true, labels: ["a=b"] } });
  bench.build({ requires: { ios: true } });
  bench.now += 10_000;
  bench.agent({ labels: ["fresh"] });
  const { state, context } = bench.pool;
  const metrics = Metrics.parse(measure(state, ORG, { ...context, now: bench.now }, 2, () => 0));

  it("count builds, agents and what each kind of build would need", () => {
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
    expect(metrics.outbox.parked).toBe(2);
  });

  it("read as Prometheus text: help, type, and escaped labels", () => {
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
