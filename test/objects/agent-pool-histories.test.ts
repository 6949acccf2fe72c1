import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Result } from "../../src/domain/pool/commands.ts";
import { NO_REPORT } from "../../src/domain/pool/facts.ts";
import { toBuild } from "../../src/domain/pool/record.ts";
import { RULES } from "../../src/domain/pool/rules.ts";
import type { Command } from "../../src/domain/pool/step.ts";
import type { AgentPool } from "../../src/objects/agent-pool.ts";
import type { Agent } from "../../src/protocol/agent.ts";
import { Chance } from "../simulate/chance.ts";
import { History } from "../simulate/history.ts";
import type { PoolModel } from "../simulate/pool.ts";
import type { AnyInput } from "../simulate/witness.ts";

const SEED = 11;
const HISTORIES = 25;
/** Share of calls before which the object is torn down: with sockets open only a crash does that at once. */
const EVICTIONS = 0.25;
const CRASHES = 0.02;

interface Heard {
  now: number;
  verb: Command;
  input: AnyInput;
  expected: Result<unknown>;
}

/** What the object is to answer, from the same facts as the machine's answer. */
const presented = (verb: Command, answer: Result<unknown>, pool: PoolModel): Result<unknown> => {
  if (!answer.ok) return answer;
  const build = (id: string) => {
    const { builds, jobs, reports } = pool.disk.rows;
    return toBuild("acme", builds.get(id)!, jobs.get(id)!, reports.get(id) ?? NO_REPORT);
  };
  const value = answer.value as AnyInput;
  switch (verb) {
    case "enqueue":
      return { ok: true, value: build(value.buildId) };
    case "cancel":
    case "failClaim":
    case "start":
    case "release":
    case "finish":
      return { ok: true, value: build(value) };
    case "claim":
      return { ok: true, value: value && { fence: value.fence, build: build(value.buildId) } };
    case "deliver":
      return { ok: true, value: build(value.buildId) };
    case "removeAgentsOf":
      return { ok: true, value: { removed: value.removed.length, left: value.left } };
    default:
      return { ok: true, value };
  }
};

/** The object's answer, less what only the object adds. */
const essence = (verb: Command, answer: Result<AnyInput>): Result<unknown> => {
  if (!answer.ok || !answer.value) return answer;
  const { value } = answer;
  if (verb === "claim") return { ok: true, value: { fence: value.fence, build: value.build } };
  if (verb === "deliver") return { ok: true, value: value.build };
  if (verb === "registerAgent" || verb === "updateAgent") return { ok: true, value: (value as Agent).id };
  return answer;
};

/** The disk cannot be put back here, and what is older than a day is tidied away. */
const NEEDS_MODEL = ["restore", "months of silence"] as const;

/** Plays a history in memory and keeps what was asked; undefined where it needs what only a model can do. */
const record = (index: number): { calls: Heard[]; history: History } | undefined => {
  const calls: Heard[] = [];
  const history = new History(SEED, index, RULES, (now, verb, input, answer, pool) => {
    calls.push({ now, verb, input: structuredClone(input), expected: presented(verb, answer, pool) });
  });
  history.run();
  const { faults } = history.world;
  return NEEDS_MODEL.some((fault) => faults.has(fault)) ? undefined : { calls, history };
};

/** What the object does by itself, or is told by sockets that close. */
const UNASKED: Command[] = ["recordFlush", "tidy", "leave"];

const pools = env.AGENT_POOL as DurableObjectNamespace<AgentPool>;
type Stub = DurableObjectStub<AgentPool>;

/** The real object, asked as the service asks it, and torn down between any two calls. */
class Played {
  readonly #id = pools.newUniqueId();
  stub: Stub = pools.get(this.#id);
  readonly chance: Chance;
  readonly #sockets = new Map<string, WebSocket>();
  evictions = 0;
  #isAwake = false;

  constructor(index: number) {
    this.chance = new Chance(SEED, index);
  }

  async ask({ verb, input }: Heard): Promise<Result<unknown> | null> {
    if (this.#isAwake && this.chance.odds(this.#sockets.size > 0 ? CRASHES : EVICTIONS)) await this.#evict();
    this.#isAwake = !UNASKED.includes(verb);
    const { stub } = this;
    if (verb === "wait") return this.#wait(input);
    if (verb === "leave") {
      this.#sockets.get(input.agentId)?.close(1000);
      this.#sockets.delete(input.agentId);
      return null;
    }
    if (!this.#isAwake) return null;
    if (verb === "sweep") {
      await stub.sweep();
      return null;
    }
    if (verb === "updateAgent") return stub.updateAgent(input.agentId, input.change, input.actor);
    if (verb === "removeAgent") return stub.removeAgent(input.agentId, input.actor);
    return (stub as AnyInput)[verb](input);
  }

  async #evict(): Promise<void> {
    this.evictions++;
    this.#isAwake = false;
    if (this.#sockets.size === 0) return evictDurableObject(this.stub);
    this.#sockets.clear();
    await expect(runInDurableObject(this.stub, (_object, state) => state.abort("a crash"))).rejects.toThrow("a crash");
    this.stub = pools.get(this.#id);
  }

  async #wait({ agentId, tokenHash, bootId, until }: AnyInput): Promise<null> {
    const headers: Record<string, string> = { Upgrade: "websocket", "X-Agent-Id": agentId, "X-Token-Hash": tokenHash };
    headers["X-Boot-Id"] = bootId;
    if (until !== null) headers["X-Deadline"] = String(until);
    const { webSocket } = await this.stub.fetch("https://pool/wait", { headers });
    webSocket?.accept();
    if (webSocket) this.#sockets.set(agentId, webSocket);
    return null;
  }
}

describe("the object", () => {
  beforeAll(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
  });
  afterAll(() => {
    vi.useRealTimers();
  });

  it(`answers like the state machine through ${HISTORIES} hostile histories, evicted between any two calls`, {
    timeout: 180_000,
  }, async () => {
    let [played, asked, evictions] = [0, 0, 0];
    for (let index = 0; played < HISTORIES; index++) {
      const recorded = record(index);
      if (!recorded) continue;
      played++;
      await env.DB.prepare("DELETE FROM build").run();
      const object = new Played(index);
      for (const call of recorded.calls) {
        vi.setSystemTime(call.now);
        const answer = await object.ask(call);
        asked++;
        if (answer === null) continue;
        const seen = essence(call.verb, answer as Result<AnyInput>);
        expect(seen, `history ${index}, ${call.verb}`).toEqual(call.expected);
      }
      evictions += object.evictions;
      await agreesWithD1(object.stub, recorded.history);
    }
    expect(asked).toBeGreaterThan(HISTORIES * 50);
    expect(evictions).toBeGreaterThan(HISTORIES * 5);
  });
});

const agreesWithD1 = async (stub: Stub, { world }: History): Promise<void> => {
  for (let round = 0; round < 10; round++) await stub.flush();
  const { builds } = world.pool.disk.rows;
  const ids = JSON.stringify([...builds.keys()]);
  const query = "SELECT id, status, pool_version FROM build WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id";
  const { results } = await env.DB.prepare(query).bind(ids).all();
  const expected = [...builds.values()].map(({ id, status, version }) => ({
    id,
    status,
    pool_version: version,
  }));
  expect(results).toEqual(expected.sort((left, right) => (left.id < right.id ? -1 : 1)));
};
