import { expect } from "vitest";
import type { NewAgent, NewBuild, Result } from "../../../src/domain/pool/commands.ts";
import { RULES } from "../../../src/domain/pool/rules.ts";
import type { Command, Input, Output } from "../../../src/domain/pool/step.ts";
import { SimPool } from "../../simulate/pool.ts";

export const ORG = "acme";
export const ACTOR = { actor: "token:t", requestId: "r" };

/** A pool on a workbench: time moves when told to, and the witness of the simulation checks every step. */
export class Bench {
  now = 1_800_000_000_000;
  readonly pushes: { agentId: string; type: string; buildId: string | undefined }[] = [];
  readonly pool = new SimPool(ORG, RULES, ({ agentId, hint }) =>
    this.pushes.push({ agentId, type: hint.type, buildId: hint.buildId }),
  );
  #ids = 0;

  ask<V extends Command>(verb: V, input: Input<V>): Result<Output<V>> {
    return this.pool.call(this.now, verb, input);
  }

  /** The value of an accepted call. */
  ok<V extends Command>(verb: V, input: Input<V>): Output<V> {
    const answer = this.ask(verb, input);
    if (!answer.ok) throw new Error(`${verb} was refused: ${JSON.stringify(answer.refusal)}`);
    return answer.value;
  }

  /** The kind of refusal. */
  refusal<V extends Command>(verb: V, input: Input<V>): string {
    const answer = this.ask(verb, input);
    expect(answer.ok, `${verb} was accepted`).toBe(false);
    return answer.ok ? "" : answer.refusal.kind;
  }

  pass(seconds: number): void {
    this.now += seconds * 1000;
    this.ask("sweep", null);
  }

  agent(over: Partial<NewAgent> = {}): TestAgent {
    const wanted = this.wantedAgent(over);
    this.ok("registerAgent", wanted);
    return new TestAgent(this, wanted.id);
  }

  wantedAgent(over: Partial<NewAgent> = {}): NewAgent {
    const id = over.id ?? `agent-${++this.#ids}`;
    const skills = { platform: 2, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: false };
    return { id, orgId: ORG, name: id, tokenHash: `hash of ${id}`, actor: ACTOR, ...skills, ...over };
  }

  build(over: Partial<NewBuild> = {}): string {
    return this.ok("enqueue", this.wanted(over)).buildId;
  }

  /** An agent that has just started a build of its own. */
  busy(over: Partial<NewBuild> = {}) {
    this.build(over);
    const agent = this.agent();
    return { agent, holder: agent.work() };
  }

  wanted(over: Partial<NewBuild> = {}): NewBuild {
    return {
      ...{ id: `build-${++this.#ids}`, orgId: ORG, repoId: "repo", pipelineId: "pipeline", pipelineVersion: 1 },
      ...{ branch: "main", commitSha: null, trigger: "api", priority: 0, requires: {}, timeoutSeconds: 3600 },
      ...{ maxParallel: null, maxAttempts: 2, inputs: null, secretKeys: [], retryOf: null, idempotency: null },
      ...{ actor: ACTOR, ...over },
    };
  }

  facts(buildId: string) {
    const { builds, jobs } = this.pool.storage.rows;
    const { status, reason, commitSha, exitCode, number } = builds.get(buildId)!;
    const { attempt, unstarted, requires, agentId } = jobs.get(buildId)!;
    return { status, reason, commitSha, exitCode, number, attempt, unstarted, requires, agentId };
  }

  message(buildId: string): string | null {
    return this.pool.storage.rows.reports.get(buildId)?.message ?? null;
  }

  status(buildId: string): string {
    return this.facts(buildId).status;
  }
}

export class TestAgent {
  readonly bench: Bench;
  readonly id: string;
  boot = "boot-1";

  constructor(bench: Bench, id: string) {
    this.bench = bench;
    this.id = id;
  }

  get speaker() {
    return { agentId: this.id, tokenHash: `hash of ${this.id}` };
  }

  claim() {
    return this.bench.ok("claim", { ...this.speaker, bootId: this.boot });
  }

  /** The build it is given, by id. */
  take(): string | null {
    return this.claim()?.buildId ?? null;
  }

  holder(grant: { buildId: string; fence: number }) {
    return { ...this.speaker, buildId: grant.buildId, fence: grant.fence };
  }

  /** Claims and starts; answers what it then speaks with. */
  work() {
    const grant = this.claim();
    if (!grant) throw new Error("there is no build for this agent");
    this.bench.ok("start", this.holder(grant));
    return this.holder(grant);
  }

  wait(until: number | null = null) {
    return this.bench.ok("wait", { ...this.speaker, bootId: this.boot, until });
  }
}
