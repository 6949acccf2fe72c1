import type { Result } from "../../src/domain/pool/commands.ts";
import type { Push } from "../../src/domain/pool/decision.ts";
import type { BuildFacts, Change, JobFacts, Lease, Outcome } from "../../src/domain/pool/facts.ts";
import { LIVE, TERMINAL } from "../../src/protocol/build.ts";
import type { Disk } from "./disk.ts";
import { firstEligible, inspect } from "./inspect.ts";
import { must } from "./violation.ts";
import type { PoolState } from "../../src/domain/pool/state.ts";

/* Judges by the text of the invariants alone: nothing here asks the machine's rules. Numbers are those of its laws. */

const EDGES: Record<string, readonly string[]> = {
  queued: ["assigned", "canceled"],
  assigned: ["running", "queued", "canceling", "failed"],
  running: ["succeeded", "failed", "queued", "canceling"],
  canceling: ["canceled"],
};
const isLive = (status: string) => (LIVE as readonly string[]).includes(status);
const isOver = (status: string) => (TERMINAL as readonly string[]).includes(status);
const DAY_MS = 24 * 60 * 60 * 1000;
export const START_MS = 30_000;
export const LEASE_MS = 60_000;
const GRACE_AFTER_STOP_MS = 5 * 60_000;

interface Seen {
  starts: number;
  unstarted: number;
  /** Until when its agent was told that the lease holds. */
  promised: number;
  isCanceled: boolean;
  reported: Outcome | null;
}
interface SeenAgent {
  boots: string[];
  isRemoved: boolean;
  /** Builds in a row that it let lie, and when the last was taken from it. */
  ignored: number;
  ignoredAt: number;
}

interface Memory {
  builds: Map<string, Seen>;
  agents: Map<string, SeenAgent>;
  keys: Map<string, { buildId: string; at: number; bodyHash: string }>;
  numbers: Map<string, number>;
}

// biome-ignore lint/suspicious/noExplicitAny: a call of any verb, with that verb's own input
export type AnyInput = any;
interface Call {
  verb: string;
  input: AnyInput;
  now: number;
  build: BuildFacts | undefined;
  job: JobFacts | undefined;
  held: string | undefined;
  audits: string[];
}

/** Sees every call, every commit and every answer, and remembers what was promised to whom. */
export class Witness {
  readonly orgId: string;
  readonly disk: Disk;
  memory: Memory = { builds: new Map(), agents: new Map(), keys: new Map(), numbers: new Map() };
  /** Never goes back, not even with a restore. */
  maxFence = 0;
  #call!: Call;

  constructor(orgId: string, disk: Disk) {
    this.orgId = orgId;
    this.disk = disk;
  }

  before(state: PoolState, verb: string, input: AnyInput, now: number): void {
    const buildId = input?.buildId ?? input?.id;
    const build = this.disk.rows.builds.get(buildId);
    const job = this.disk.rows.jobs.get(buildId);
    this.#call = { verb, input, now, build, job, held: state.holding.get(input?.agentId), audits: [] };
  }

  /** A commit about to be stored; `state` and disk are still as before it. */
  commit(state: PoolState, changes: readonly Change[]): void {
    const builds = new Map<string, BuildFacts>();
    const jobs = new Map<string, JobFacts>();
    const audits: string[] = [];
    for (const change of changes) {
      if (change.kind === "audit") audits.push(`${change.entry.action} ${change.entry.subject}`);
      if (change.kind === "build") builds.set(change.build.id, change.build);
      if (change.kind === "job") jobs.set(change.job.buildId, change.job);
    }
    this.#call.audits.push(...audits);
    for (const [id, build] of builds) this.#buildChanged(id, build, changes, audits);
    for (const [id, job] of jobs) this.#jobChanged(state, id, job, builds.get(id));
  }

  #buildChanged(id: string, next: BuildFacts, changes: readonly Change[], audits: string[]): void {
    const before = this.disk.rows.builds.get(id);
    must(16, changes.some((change) => change.kind === "dirty" && change.buildId === id), "a change left the outbox empty");
    if (!before) return this.#born(id, next);
    must(16, next.version > before.version, "a version did not grow");
    if (isOver(before.status)) must(4, JSON.stringify({ ...before, version: 0, leak: true }) === JSON.stringify({ ...next, version: 0, leak: true }), "an ended build changed");
    if (before.status === next.status) return;
    must(4, (EDGES[before.status] ?? []).includes(next.status), `${before.status} became ${next.status}`);
    if (isOver(next.status)) must(16, audits.includes(`build.finish ${id}`), "an end without audit");
    const seen = this.memory.builds.get(id)!;
    if (seen.isCanceled) must(10, next.status === "canceled" || next.status === "canceling", `a canceled build became ${next.status}`);
  }

  #born(id: string, build: BuildFacts): void {
    must(7, this.#call.verb === "enqueue" && build.status === "queued", "a build from nowhere");
    const last = this.memory.numbers.get(build.repoId) ?? 0;
    must(7, build.number === last + 1, `number ${build.number} after ${last}`);
    this.memory.numbers.set(build.repoId, build.number);
    this.memory.builds.set(id, { starts: 0, unstarted: 0, promised: 0, isCanceled: false, reported: null });
  }

  #jobChanged(state: PoolState, id: string, next: JobFacts, build: BuildFacts | undefined): void {
    const before = this.disk.rows.jobs.get(id);
    if (!before) return;
    if (!before.lease && next.lease) this.#granted(state, id, next, next.lease);
    if (before.lease && !next.lease) this.#leaseEnded(id, before, next, before.lease, build);
    if (before.lease && next.lease) {
      must(1, before.lease.fence === next.lease.fence, "a lease changed its fence");
      must(5, next.lease.expiresAt >= before.lease.expiresAt, "a deadline moved closer");
      if (before.lease.startedAt === null && next.lease.startedAt !== null) this.#started(id, next);
    }
    const seen = this.memory.builds.get(id)!;
    must(6, next.attempt === seen.starts, `attempt ${next.attempt} after ${seen.starts} starts`);
    must(6, next.attempt <= next.maxAttempts, "more starts than attempts");
    must(6, next.unstarted === seen.unstarted && seen.unstarted <= 20, `${next.unstarted} for ${seen.unstarted} unstarted leases`);
  }

  #granted(state: PoolState, id: string, job: JobFacts, lease: Lease): void {
    const { verb, input, now } = this.#call;
    must(2, lease.fence > this.maxFence, `fence ${lease.fence} after ${this.maxFence}`);
    this.maxFence = lease.fence;
    must(12, verb === "claim" && lease.agentId === input.agentId, "a grant nobody asked for");
    must(5, lease.expiresAt >= now + START_MS, "a lease shorter than promised");
    const agent = this.memory.agents.get(lease.agentId);
    must(15, !!agent && !agent.isRemoved, "a grant to an agent that is gone");
    const facts = state.agents.get(lease.agentId)!;
    must(12, !facts.isDraining, "a grant to a draining agent");
    must(12, agent.ignored < 2 || now >= agent.ignoredAt + 10 * 60_000, "a third offer to an agent that ignored two");
    must(1, !state.holding.has(lease.agentId), "a second lease for one agent");
    must(10, !this.memory.builds.get(id)!.isCanceled, "a grant of a canceled build");
    must(12, job.notBefore <= now, "a grant of a build that rests");
    must(12, firstEligible(state, facts, now)?.id === id, "not the first eligible build");
  }

  #started(id: string, job: JobFacts): void {
    const { verb, input } = this.#call;
    must(3, verb === "start" && input.buildId === id && input.agentId === job.agentId, "a start without a word");
    this.memory.builds.get(id)!.starts++;
  }

  #leaseEnded(id: string, before: JobFacts, next: JobFacts, lease: Lease, build: BuildFacts | undefined): void {
    const { verb, input, now } = this.#call;
    const seen = this.memory.builds.get(id)!;
    const isAbout = input?.buildId === id && input.fence === lease.fence;
    const isOwn = input?.agentId === lease.agentId;
    const isLate = now >= seen.promised;
    const isBoot = isOwn && !!input.bootId && !this.memory.agents.get(lease.agentId)!.boots.includes(input.bootId);
    const isIdle = isOwn && verb === "claim" && lease.startedAt === null && seen.isCanceled;
    const byAgent = isAbout && isOwn && (verb === "finish" || verb === "release");
    const byService = isAbout && (verb === "unclaim" || verb === "failClaim") && lease.startedAt === null;
    const isRemoval = verb === "removeAgent" && isOwn;
    must(5, isLate || isBoot || isIdle || byAgent || byService || isRemoval, `a lease ended early at ${verb}`);
    const isRelease = byAgent && verb === "release";
    if (isRelease && build?.status === "queued" && lease.startedAt !== null) seen.starts--;
    if (lease.startedAt === null && next.unstarted !== before.unstarted) {
      must(6, !byService, "a hand-out taken back was counted");
      seen.unstarted++;
    } else if (lease.startedAt === null && build?.status === "queued") must(6, byService || isRelease, "a lease was not counted");
    if (lease.startedAt === null && isLate && !byAgent && !byService && !isIdle && !isBoot && !isRemoval && !seen.isCanceled) {
      const agent = this.memory.agents.get(lease.agentId);
      if (agent) {
        agent.ignored++;
        agent.ignoredAt = now;
      }
    }
  }

  after(state: PoolState, answer: Result<unknown>, pushes: readonly Push[]): void {
    const call = this.#call;
    if (answer.ok) this.#accepted(state, answer.value as AnyInput, call);
    if (call.input?.bootId && this.#isGenuine(call.input)) {
      const agent = this.memory.agents.get(call.input.agentId);
      if (agent && !agent.boots.includes(call.input.bootId)) {
        agent.boots.push(call.input.bootId);
        agent.ignored = 0;
      }
    }
    must(16, this.disk.rows.builds.size === this.memory.builds.size, "builds made and builds kept differ");
    inspect(state, this.disk, call.now, pushes);
  }

  #isGenuine({ agentId, tokenHash }: AnyInput): boolean {
    const agent = this.memory.agents.get(agentId);
    return !!agent && !agent.isRemoved && tokenHash === `hash of ${agentId}`;
  }

  #accepted(state: PoolState, value: AnyInput, call: Call): void {
    const { verb, input, now } = call;
    if (input?.tokenHash !== undefined && input.agentId !== undefined) must(15, this.#isGenuine(input), `${verb} from nobody`);
    switch (verb) {
      case "registerAgent":
        must(14, input.orgId === this.orgId, "a foreign agent");
        this.memory.agents.set(input.id, { boots: [], isRemoved: false, ignored: 0, ignoredAt: 0 });
        return;
      case "removeAgent": {
        this.memory.agents.get(input.agentId)!.isRemoved = true;
        must(15, !state.agents.has(input.agentId) && !state.holding.has(input.agentId), "a removed agent is still there");
        if (call.held) must(15, state.jobs.get(call.held)?.lease?.agentId !== input.agentId, "its build is not free");
        return;
      }
      case "enqueue":
        return this.#enqueued(value, call);
      case "claim":
        return this.#claimed(state, value, call);
      case "cancel": {
        const job = state.jobs.get(input.buildId);
        const status = this.disk.rows.builds.get(input.buildId)!.status;
        must(10, job?.lease ? status === "canceling" : status === "canceled", `cancel left it ${status}`);
        this.memory.builds.get(input.buildId)!.isCanceled = true;
        return;
      }
      case "heartbeat": {
        this.memory.agents.get(input.agentId)!.ignored = 0;
        if (input.fence == null || value.reason === "lease-lost") return;
        return this.#beaten(state, value, call);
      }
      case "start":
        this.#current(state, call);
        this.memory.agents.get(input.agentId)!.ignored = 0;
        must(10, !this.memory.builds.get(input.buildId)!.isCanceled, "a canceled build was started");
        this.#promise(input.buildId, Math.max(this.memory.builds.get(input.buildId)!.promised, call.build!.status === "assigned" ? now + LEASE_MS : 0));
        return;
      case "progress":
        return this.#current(state, call);
      case "deliver":
        this.#current(state, call);
        must(10, !this.memory.builds.get(input.buildId)!.isCanceled, "a canceled build was delivered");
        must(13, call.audits.includes(`build.deliver ${input.buildId}`), "secrets left without audit");
        return;
      case "release":
        must(3, this.#wasCurrent(call), "a release under no lease");
        return;
      case "finish":
        return this.#finished(call);
    }
  }

  #wasCurrent({ job, build, input }: Call): boolean {
    return !!build && isLive(build.status) && job?.lease?.fence === input.fence && job?.lease?.agentId === input.agentId;
  }

  #current(state: PoolState, call: Call): void {
    must(3, this.#wasCurrent(call), `${call.verb} under a stale lease was accepted`);
    must(5, state.jobs.get(call.input.buildId)?.lease?.fence === call.input.fence, "a swept lease was revived");
  }

  #promise(buildId: string, until: number): void {
    this.memory.builds.get(buildId)!.promised = until;
  }

  #enqueued({ buildId, isNew }: { buildId: string; isNew: boolean }, { input, now }: Call): void {
    must(14, input.orgId === this.orgId, "a foreign build");
    if (!input.idempotency) return;
    const key = `${input.idempotency.caller} ${input.idempotency.key}`;
    const known = this.memory.keys.get(key);
    if (known && now < known.at + DAY_MS) {
      must(7, !isNew && buildId === known.buildId, "one key made two builds");
      must(7, known.bodyHash === input.idempotency.bodyHash, "one key stood for two requests");
    } else {
      must(7, isNew, "a new key made no build");
      this.memory.keys.set(key, { buildId, at: now, bodyHash: input.idempotency.bodyHash });
    }
  }

  #claimed(state: PoolState, value: AnyInput, { input, now, held }: Call): void {
    const agent = state.agents.get(input.agentId)!;
    const boots = this.memory.agents.get(input.agentId)!.boots;
    const isNewBoot = !!input.bootId && !boots.includes(input.bootId);
    const isOldBoot = !!input.bootId && !isNewBoot && boots.at(-1) !== input.bootId;
    if (isOldBoot) return must(8, value === null, "an earlier boot was given a build");
    const heldJob = held === undefined ? undefined : this.disk.rows.jobs.get(held);
    const lease = heldJob?.lease;
    if (lease && lease.agentId === input.agentId && lease.startedAt === null && !isNewBoot && this.disk.rows.builds.get(held!)?.status === "assigned" && now < lease.expiresAt) {
      must(8, value?.buildId === held && value.fence === lease.fence, "an unstarted lease was not handed out again");
    }
    if (value) {
      const job = state.jobs.get(value.buildId);
      must(8, job?.lease?.fence === value.fence && job?.lease?.agentId === input.agentId, "an answer that is no lease");
      must(5, value.expiresAt <= job.lease.expiresAt, "a promise longer than the lease");
      must(10, !this.memory.builds.get(value.buildId)!.isCanceled, "a canceled build was handed out");
      this.#promise(value.buildId, value.expiresAt);
      return;
    }
    const isAble = !state.holding.has(input.agentId) && !agent.isDraining && agent.spentAt === null && agent.ignored < 2;
    if (isAble) must(12, firstEligible(state, agent, now) === undefined, "an eligible build was withheld");
  }

  #beaten(state: PoolState, value: AnyInput, call: Call): void {
    this.#current(state, call);
    const { input, now } = call;
    const seen = this.memory.builds.get(input.buildId)!;
    const until = Date.parse(value.leaseExpiresAt);
    must(5, state.jobs.get(input.buildId)!.lease!.expiresAt === until, "a promise that is not the lease");
    const lease = state.jobs.get(input.buildId)!.lease!;
    if (seen.isCanceled) must(10, value.cancel && value.reason === "canceled", "a heartbeat did not tell of the cancel");
    else if (lease.stop) must(10, value.cancel && value.reason === "timeout", "a heartbeat did not tell of the timeout");
    else must(10, !value.cancel, "a heartbeat stopped a build for no reason");
    if (lease.startedAt !== null && !lease.stop) must(5, until >= now + LEASE_MS, "a heartbeat did not extend the lease");
    if (lease.stop) must(17, until <= Math.max(lease.stop.at + GRACE_AFTER_STOP_MS, seen.promised), "a stopped build is kept alive");
    this.#promise(input.buildId, until);
  }

  #finished(call: Call): void {
    const { input, build, job } = call;
    const seen = this.memory.builds.get(input.buildId)!;
    const reported = { status: input.status, exitCode: input.exitCode ?? null, reason: input.reason ?? null };
    const ended = this.disk.rows.builds.get(input.buildId)!;
    must(9, isOver(ended.status), "a finish that did not end the build");
    if (build && isOver(build.status)) {
      must(9, JSON.stringify(seen.reported) === JSON.stringify(reported), "another result was accepted");
      must(3, job?.fence === input.fence && job?.agentId === input.agentId, "a stranger's finish was accepted");
      return;
    }
    must(3, this.#wasCurrent(call), "a finish under a stale lease was accepted");
    seen.reported = reported;
    if (seen.isCanceled) return must(10, ended.status === "canceled", `a canceled build ended ${ended.status}`);
    if (ended.reason === "timeout") return must(17, call.now >= job!.lease!.startedAt! + job!.timeoutSeconds * 1000, "a timeout before its time");
    must(9, ended.status === (input.status === "succeeded" ? "succeeded" : "failed"), `${input.status} became ${ended.status}`);
  }

  /** The memory as it is now, to be put back when the pool is restored to this point. */
  copy(): Memory {
    return structuredClone(this.memory);
  }
}
