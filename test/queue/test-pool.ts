import { expect } from "vitest";
import type { NewAgent, NewBuild, Result } from "../../src/queue/commands/commands.ts";
import type { Command, InputOf, OutputOf } from "../../src/queue/commands/step.ts";
import type { JobFacts } from "../../src/queue/state/facts.ts";
import { RULES } from "../../src/queue/state/rules.ts";
import { SimPool } from "../simulate/pool.ts";
import { DEFAULT_BUILD } from "../support/default-build.ts";

export const ORG = "acme";
export const ACTOR = { actor: "token:t", requestId: "r" };

/** A pool in memory whose clock only the test moves. The simulation's checker checks every step. */
export class TestPool {
  now = 1_800_000_000_000;
  readonly pushes: { agentId: string; type: string; buildId: string | undefined }[] = [];
  readonly model = new SimPool(ORG, RULES, ({ agentId, hint }) =>
    this.pushes.push({ agentId, type: hint.type, buildId: hint.buildId }),
  );
  #ids = 0;

  call<V extends Command>(verb: V, input: InputOf<V>): Result<OutputOf<V>> {
    return this.model.call(this.now, verb, input);
  }

  /** Returns the value of an accepted call. */
  ok<V extends Command>(verb: V, input: InputOf<V>): OutputOf<V> {
    const answer = this.call(verb, input);
    if (!answer.ok) throw new Error(`${verb} was refused: ${JSON.stringify(answer.refusal)}`);
    return answer.value;
  }

  /** Expects a refusal. @returns its kind */
  refusal<V extends Command>(verb: V, input: InputOf<V>): string {
    const answer = this.call(verb, input);
    expect(answer.ok, `${verb} was accepted`).toBe(false);
    return answer.ok ? "" : answer.refusal.kind;
  }

  /** Moves the clock. The pool then ends everything overdue. */
  advance(seconds: number): void {
    this.now += seconds * 1000;
    this.call("sweep", null);
  }

  /** Registers an agent. */
  agent(over: Partial<NewAgent> = {}): TestAgent {
    const agent = this.newAgent(over);
    this.ok("registerAgent", agent);
    return new TestAgent(this, agent.id);
  }

  newAgent(over: Partial<NewAgent> = {}): NewAgent {
    const id = over.id ?? `agent-${++this.#ids}`;
    const skills = { platform: 2, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: false };
    return { id, orgId: ORG, name: id, tokenHash: `hash of ${id}`, actor: ACTOR, ...skills, ...over };
  }

  /** Enqueues a build. @returns its id */
  build(over: Partial<NewBuild> = {}): string {
    return this.ok("enqueue", this.newBuild(over)).buildId;
  }

  /** Creates an agent that has just started a new build. */
  busyAgent(over: Partial<NewBuild> = {}) {
    this.build(over);
    const agent = this.agent();
    return { agent, holder: agent.claimAndStart() };
  }

  newBuild(over: Partial<NewBuild> = {}): NewBuild {
    return { ...DEFAULT_BUILD, id: `build-${++this.#ids}`, ...over };
  }

  /** Returns a build as people see it, with its first job. */
  facts(buildId: string) {
    const { builds, jobs } = this.model.storage.rows;
    const { status, reason, commitSha, exitCode, number } = builds.get(buildId)!;
    const first = jobs.get(buildId);
    const { attempt, unstarted, requires, agentId } = first ?? {
      attempt: 0,
      unstarted: 0,
      requires: {},
      agentId: null,
    };
    return { status, reason, commitSha, exitCode, number, attempt, unstarted, requires, agentId };
  }

  job(jobId: string): JobFacts {
    return this.model.storage.rows.jobs.get(jobId)!;
  }

  /** Returns the message of a build or job. */
  message(id: string): string | null {
    const { builds, jobs } = this.model.storage.rows;
    const known = builds.get(id) ?? jobs.get(id)?.end ?? jobs.get(id);
    return known?.message ?? null;
  }

  /** Returns the status of a build or job. */
  status(id: string): string {
    const { builds, jobs } = this.model.storage.rows;
    return (builds.get(id) ?? jobs.get(id)!).status;
  }
}

export class TestAgent {
  readonly pool: TestPool;
  readonly id: string;
  bootId = "boot-1";

  constructor(pool: TestPool, id: string) {
    this.pool = pool;
    this.id = id;
  }

  get credentials() {
    return { agentId: this.id, tokenHash: `hash of ${this.id}` };
  }

  claim() {
    return this.pool.ok("claim", { ...this.credentials, bootId: this.bootId });
  }

  /** Claims the next job. @returns its id, or null without one */
  claimId(): string | null {
    return this.claim()?.jobId ?? null;
  }

  holder(grant: { jobId: string; fence: number }) {
    return { ...this.credentials, jobId: grant.jobId, fence: grant.fence };
  }

  /** Claims the next build and starts it. @returns the fields that the agent then sends with each call */
  claimAndStart() {
    const grant = this.claim();
    if (!grant) throw new Error("there is no build that this agent may have");
    this.pool.ok("start", this.holder(grant));
    return this.holder(grant);
  }

  wait(until: number | null = null) {
    return this.pool.ok("wait", { ...this.credentials, bootId: this.bootId, until });
  }
}
