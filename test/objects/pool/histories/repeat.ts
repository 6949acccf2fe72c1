import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import type { AgentPool } from "../../../../src/objects/pool/agent-pool.ts";
import type { Agent } from "../../../../src/protocol/agent.ts";
import type { Build } from "../../../../src/protocol/build.ts";
import { FEATURES_HEADER } from "../../../../src/protocol/jobs.ts";
import { LIMITS } from "../../../../src/protocol/limits.ts";
import { XCODES_HEADER } from "../../../../src/protocol/xcodes.ts";
import type { Result } from "../../../../src/queue/commands/commands.ts";
import type { Command } from "../../../../src/queue/commands/step.ts";
import { readNeeds } from "../../../../src/queue/jobs/needs.ts";
import { countsOfJobs, toJobs, toWaitsFor } from "../../../../src/queue/read/job-records.ts";
import { toBuild } from "../../../../src/queue/read/record.ts";
import { NO_REPORT } from "../../../../src/queue/state/facts.ts";
import { RULES, type Rules } from "../../../../src/queue/state/rules.ts";
import { History } from "../../../simulate/history.ts";
import type { AnyInput } from "../../../simulate/observations.ts";
import { Random } from "../../../simulate/random.ts";
import { runHistory } from "../../../simulate/run.ts";
import type { SimStorage } from "../../../simulate/storage.ts";

/** Its first 6 histories have 60 of the 73 kinds of calls and answers in the first 25 histories of most seeds. */
const SEED = 6;
/** Probability of an eviction before a call. While sockets are open, only a crash in the history evicts the object. */
const EVICTIONS = 0.25;

interface RecordedCall {
  now: number;
  /** A command, or the object's eviction; a crash also drops its sockets. */
  command: Command | "evict" | "crash";
  input: AnyInput;
  expected: Result<unknown>;
}

/** Returns the build with this id, or the one with this job. */
const buildOf = ({ rows }: SimStorage, id: string): Build => {
  const buildId = rows.jobs.get(id)?.buildId ?? id;
  const report = rows.reports.get(buildId) ?? NO_REPORT;
  return toBuild("acme", rows.builds.get(buildId)!, rows.jobs.get(buildId), report);
};

/** Returns the build with its planned jobs. */
const withJobs = (storage: SimStorage, id: string): Build => {
  const { graphs, jobs } = storage.rows;
  const build = buildOf(storage, id);
  const graph = graphs.get(id)?.graph;
  if (!graph) return build;
  const all = toJobs(graph, (jobId) => jobs.get(jobId));
  return { ...build, jobs: all, jobCounts: countsOfJobs(all), waitsFor: build.finishedAt ? [] : toWaitsFor(all) };
};

/** Returns the agent's grant. A job's grant includes the results of its needs. */
const grantOf = (storage: SimStorage, { jobId, fence }: { jobId: string; fence: number }) => {
  const { graphs, jobs } = storage.rows;
  const planned = graphs.get(jobs.get(jobId)!.buildId);
  const needs = planned && readNeeds(planned.graph, jobs, jobId, (id) => storage.outputs(id));
  return { jobId, fence, build: buildOf(storage, jobId), needs };
};

/** Returns the object's expected answer for the state machine's answer. */
const objectAnswer = (command: Command, answer: Result<unknown>, storage: SimStorage): Result<unknown> => {
  if (!answer.ok) return answer;
  const value = answer.value as AnyInput;
  switch (command) {
    case "enqueue":
      return { ok: true, value: withJobs(storage, value.buildId) };
    case "cancel":
    case "decideGate":
      return { ok: true, value: withJobs(storage, value) };
    case "failClaim":
    case "start":
    case "release":
    case "refusePlan":
    case "finish":
      return { ok: true, value: buildOf(storage, value) };
    case "claim":
      return { ok: true, value: value && grantOf(storage, value) };
    case "deliver":
      return { ok: true, value: buildOf(storage, value.jobId) };
    case "removeAgentsOf":
      return { ok: true, value: { removed: value.removed.length, left: value.left } };
    default:
      return { ok: true, value };
  }
};

/** Returns the object's answer without the parts that only the object adds. */
const comparable = (command: RecordedCall["command"], answer: Result<AnyInput>): Result<unknown> => {
  if (!answer.ok || !answer.value) return answer;
  const { value } = answer;
  if (command === "claim") {
    const { jobId, fence, build, job } = value;
    return { ok: true, value: { jobId, fence, build, needs: job?.needs } };
  }
  if (command === "deliver") return { ok: true, value: value.build };
  if (command === "registerAgent" || command === "updateAgent") return { ok: true, value: (value as Agent).id };
  return answer;
};

/** Faults that only the simulation can inject: the object cannot restore storage here, and deletes rows after a day. */
const SIMULATION_ONLY = ["restore", "months of silence"] as const;

/** Runs a history in memory and records its calls. Returns undefined if the object cannot repeat it. */
const record = (index: number, rules: Rules): { calls: RecordedCall[]; history: History } | undefined => {
  const calls: RecordedCall[] = [];
  const history = new History(SEED, index, rules, {
    onWake(now, isCrash) {
      calls.push({ now, command: isCrash ? "crash" : "evict", input: null, expected: { ok: true, value: null } });
    },
    onAnswer({ now, command, input, answer }, storage) {
      calls.push({ now, command, input: structuredClone(input), expected: objectAnswer(command, answer, storage) });
    },
  });
  history.simulator.pool.losesClaims = false;
  const failure = runHistory(history, index);
  // The checks stop a wrong machine. Its earlier answers are still compared.
  if (failure && rules === RULES) throw new Error(failure.message);
  const { faults, pool } = history.simulator;
  // D1 was unavailable for a comparison in memory, but is available for the object's.
  const isUncompared = calls.some(({ expected }) => !expected.ok && expected.refusal.kind === "unavailable");
  // The object's queue accepts more builds than the history's.
  const isShort = pool.context.maxQueued < LIMITS.waitingJobs;
  return isUncompared || isShort || SIMULATION_ONLY.some((fault) => faults.has(fault)) ? undefined : { calls, history };
};

/** Commands that the object gives itself, or that a closed socket causes. */
const INTERNAL: RecordedCall["command"][] = ["recordDelivery", "compare", "reconcile", "tidy", "leave"];

const pools = env.AGENT_POOL as DurableObjectNamespace<AgentPool>;
type Stub = DurableObjectStub<AgentPool>;

/** The real object, with the service's calls and evictions between some of them. */
class ObjectUnderTest {
  readonly #id = pools.newUniqueId();
  stub: Stub = pools.get(this.#id);
  readonly chance: Random;
  readonly #sockets = new Map<string, WebSocket>();
  evictions = 0;
  #isAwake = false;

  constructor(index: number) {
    this.chance = new Random(SEED, index);
  }

  async call({ command, input }: RecordedCall): Promise<Result<unknown> | null> {
    if (this.#isAwake && this.chance.chance(EVICTIONS)) await this.#evict();
    if (command === "evict" || command === "crash") {
      await (command === "crash" ? this.#crash() : this.#evict());
      return null;
    }
    this.#isAwake = !INTERNAL.includes(command);
    const { stub } = this;
    if (command === "wait") return this.#wait(input);
    if (command === "leave") {
      this.#sockets.get(input.agentId)?.close(1000);
      this.#sockets.delete(input.agentId);
      // The close may arrive later: end overdue leases now, as in the simulation.
      await stub.sweep();
      return null;
    }
    if (!this.#isAwake) return null;
    if (command === "heartbeat" && input.bySocket) return this.#beat(input);
    if (command === "sweep") {
      await stub.sweep();
      return null;
    }
    if (command === "updateAgent") return stub.updateAgent(input.agentId, input.change, input.actor);
    if (command === "removeAgent") return stub.removeAgent(input.agentId, input.actor);
    return (stub as AnyInput)[command](input);
  }

  async #evict(): Promise<void> {
    if (!this.#isAwake || this.#sockets.size > 0) return;
    this.evictions++;
    this.#isAwake = false;
    await this.#writeClaim();
    await evictDurableObject(this.stub);
  }

  /** Makes the object store its last granted lease, as a read does. The machine always keeps that lease. */
  async #writeClaim(): Promise<void> {
    await this.stub.liveBuilds();
  }

  async #crash(): Promise<void> {
    this.evictions++;
    this.#isAwake = false;
    this.#sockets.clear();
    await this.#writeClaim();
    await expect(runInDurableObject(this.stub, (_object, state) => state.abort("a crash"))).rejects.toThrow("a crash");
    this.stub = pools.get(this.#id);
    await this.stub.touch();
  }

  async #beat({ agentId, bootId, fence }: AnyInput): Promise<Result<unknown>> {
    const socket = this.#sockets.get(agentId)!;
    const answered = new Promise<string>((resolve) =>
      socket.addEventListener("message", ({ data }) => String(data).includes("heartbeat") && resolve(String(data))),
    );
    socket.send(JSON.stringify({ type: "heartbeat", lease: fence, boot: bootId }));
    const { type, lease, ...value } = JSON.parse(await answered);
    expect([type, lease]).toEqual(["heartbeat", fence]);
    return { ok: true, value };
  }

  async #wait({ agentId, tokenHash, bootId, until, features = [], xcodes = [] }: AnyInput): Promise<null> {
    const headers: Record<string, string> = { Upgrade: "websocket", "X-Agent-Id": agentId, "X-Token-Hash": tokenHash };
    headers["X-Boot-Id"] = bootId;
    headers[FEATURES_HEADER] = features.join(",");
    headers[XCODES_HEADER] = xcodes.join(",");
    if (until !== null) headers["X-Deadline"] = String(until);
    const { webSocket } = await this.stub.fetch("https://pool/wait", { headers });
    webSocket?.accept();
    if (webSocket) this.#sockets.set(agentId, webSocket);
    return null;
  }
}

const agreesWithD1 = async (stub: Stub, { simulator }: History): Promise<void> => {
  for (let round = 0; round < 10; round++) await stub.flush();
  const { builds } = simulator.pool.storage.rows;
  const told = [...builds.values()];
  const ids = JSON.stringify(told.map(({ id }) => id));
  const query =
    "SELECT id, status, pool_version FROM build_summary WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id";
  const { results } = await env.DB.prepare(query).bind(ids).all();
  const expected = told.map(({ id, status, version }) => ({
    id,
    status,
    pool_version: version,
  }));
  expect(results).toEqual(expected.sort((left, right) => (left.id < right.id ? -1 : 1)));
};

/**
 * Repeats the first `histories` that the object can repeat. Throws at the first answer that differs from the machine's.
 */
export const repeatHistories = async (histories: number, rules: Rules = RULES) => {
  const done = { histories: 0, calls: 0, evictions: 0, plans: 0, grants: 0 };
  for (let index = 0; done.histories < histories; index++) {
    const recorded = record(index, rules);
    if (!recorded) continue;
    done.histories++;
    // A pool that reads D1 after a crash must not find agents there that another history removed.
    const tables = ["build_summary", "job", "pool", "audit_log"];
    await env.DB.batch(tables.map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
    const object = new ObjectUnderTest(index);
    for (const call of recorded.calls) {
      vi.setSystemTime(call.now);
      const answer = await object.call(call);
      done.calls++;
      if (answer === null) continue;
      if (call.command === "plan" && call.expected.ok) done.plans++;
      if (call.command === "claim" && answer.ok && (answer.value as AnyInput)?.job) done.grants++;
      const seen = comparable(call.command, answer as Result<AnyInput>);
      expect(seen, `history ${index}, ${call.command}`).toEqual(call.expected);
    }
    done.evictions += object.evictions;
    if (rules === RULES) await agreesWithD1(object.stub, recorded.history);
  }
  return done;
};
