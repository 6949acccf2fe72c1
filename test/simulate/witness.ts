import type { Result } from "../../src/domain/pool/commands.ts";
import type { Push } from "../../src/domain/pool/decision.ts";
import type { BuildFacts, Change, JobFacts, Lease, Offer, Outcome } from "../../src/domain/pool/facts.ts";
import type { PoolState } from "../../src/domain/pool/state.ts";
import { LIVE, TERMINAL } from "../../src/protocol/build.ts";
import type { Disk } from "./disk.ts";
import { firstEligible, inspect } from "./inspect.ts";
import { must } from "./violation.ts";

/* Judges by the text of the invariants alone: nothing here asks the machine's rules. Numbers are those of its laws. */

const EDGES: Record<string, readonly string[]> = {
  queued: ["assigned", "canceled"],
  assigned: ["running", "queued", "canceling", "failed"],
  running: ["succeeded", "failed", "queued", "canceling"],
  canceling: ["canceled"],
};
const isOvertime = ({ lease, timeoutSeconds }: JobFacts, now: number) =>
  lease?.stop?.reason === "timeout" || now >= (lease?.startedAt ?? Infinity) + timeoutSeconds * 1000;
const reportedBy = ({ status, exitCode, reason }: AnyInput): Outcome => ({
  status,
  exitCode: exitCode ?? null,
  reason: reason ?? null,
});
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
  /** Times in a row that its deadline moved without a word of its agent. */
  graces: number;
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
  offers: [buildId: string, offer: Offer][];
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
    this.#call = {
      verb,
      input,
      now,
      build,
      job,
      held: state.index.holding.get(input?.agentId),
      offers: [...state.offers],
      audits: [],
    };
  }

  /** A commit about to be stored; `state` and disk are still as before it. */
  commit(state: PoolState, changes: readonly Change[]): void {
    const builds = new Map<string, BuildFacts>();
    const jobs = new Map<string, JobFacts>();
    const audits: string[] = [];
    for (const change of changes) {
      if (change.kind === "audit") audits.push(`${change.entry.action} ${change.entry.subject}`);
      if (change.kind === "build") builds.set(change.build.id, change.build);
      if (change.kind === "agent-gone") this.memory.agents.get(change.agentId)!.isRemoved = true;
      if (change.kind === "job") jobs.set(change.job.buildId, change.job);
    }
    this.#call.audits.push(...audits);
    for (const [id, build] of builds) this.#buildChanged(id, build, changes, audits);
    for (const [id, job] of jobs) this.#jobChanged(state, id, job, builds.get(id));
  }

  #buildChanged(id: string, next: BuildFacts, changes: readonly Change[], audits: string[]): void {
    const before = this.disk.rows.builds.get(id);
    must(
      16,
      changes.some((change) => change.kind === "dirty" && change.buildId === id),
      "a change left the outbox empty",
    );
    if (!before) {
      this.#born(id, next);
      return;
    }
    must(16, next.version > before.version, "a version did not grow");
    if (isOver(before.status))
      must(
        4,
        JSON.stringify({ ...before, version: 0, leak: true }) === JSON.stringify({ ...next, version: 0, leak: true }),
        "an ended build changed",
      );
    if (before.status === next.status) return;
    must(4, (EDGES[before.status] ?? []).includes(next.status), `${before.status} became ${next.status}`);
    if (isOver(next.status)) must(16, audits.includes(`build.finish ${id}`), "an end without audit");
    const seen = this.memory.builds.get(id)!;
    if (seen.isCanceled)
      must(10, next.status === "canceled" || next.status === "canceling", `a canceled build became ${next.status}`);
  }

  #born(id: string, build: BuildFacts): void {
    must(7, this.#call.verb === "enqueue" && build.status === "queued", "a build from nowhere");
    const last = this.memory.numbers.get(build.repoId) ?? 0;
    must(7, build.number === last + 1, `number ${build.number} after ${last}`);
    this.memory.numbers.set(build.repoId, build.number);
    this.memory.builds.set(id, { starts: 0, unstarted: 0, promised: 0, graces: 0, isCanceled: false, reported: null });
  }

  #jobChanged(state: PoolState, id: string, next: JobFacts, build: BuildFacts | undefined): void {
    const before = this.disk.rows.jobs.get(id);
    if (!before) return;
    if (!before.lease && next.lease) this.#granted(state, id, next, next.lease);
    if (before.lease && !next.lease) this.#leaseEnded(id, before, next, before.lease, build);
    if (before.lease && next.lease) {
      must(1, before.lease.fence === next.lease.fence, "a lease changed its fence");
      must(5, next.lease.expiresAt >= before.lease.expiresAt, "a deadline moved closer");
      const { verb, input } = this.#call;
      const isHeard = (verb === "start" || verb === "heartbeat") && input.agentId === next.lease.agentId;
      const seen = this.memory.builds.get(id)!;
      if (isHeard) seen.graces = 0;
      else if (next.lease.expiresAt > before.lease.expiresAt) seen.graces++;
      must(5, seen.graces <= 1, "a lease was extended again for nothing");
      if (before.lease.startedAt === null && next.lease.startedAt !== null) this.#started(id, next);
    }
    const seen = this.memory.builds.get(id)!;
    must(6, next.attempt === seen.starts, `attempt ${next.attempt} after ${seen.starts} starts`);
    must(6, next.attempt <= next.maxAttempts, "more starts than attempts");
    must(
      6,
      next.unstarted === seen.unstarted && seen.unstarted <= 20,
      `${next.unstarted} for ${seen.unstarted} unstarted leases`,
    );
  }

  #granted(state: PoolState, id: string, job: JobFacts, lease: Lease): void {
    const { verb, input, now } = this.#call;
    must(2, lease.fence > this.maxFence, `fence ${lease.fence} after ${this.maxFence}`);
    this.maxFence = lease.fence;
    this.memory.builds.get(id)!.graces = 0;
    must(12, verb === "claim" && lease.agentId === input.agentId, "a grant nobody asked for");
    must(5, lease.expiresAt >= now + START_MS, "a lease shorter than promised");
    const agent = this.memory.agents.get(lease.agentId);
    must(15, !!agent && !agent.isRemoved, "a grant to an agent that is gone");
    const facts = state.agents.get(lease.agentId)!;
    const isFresh = !!input.bootId && !agent.boots.includes(input.bootId);
    must(12, !facts.isDraining, "a grant to a draining agent");
    must(
      12,
      isFresh || agent.ignored < 2 || now >= agent.ignoredAt + 10 * 60_000,
      "a third offer to an agent that ignored two",
    );
    must(1, !state.index.holding.has(lease.agentId), "a second lease for one agent");
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
      must(6, !byService || isLate, "a hand-out taken back was counted");
      seen.unstarted++;
    } else if (lease.startedAt === null && build?.status === "queued")
      must(6, byService || isRelease, "a lease was not counted");
    if (
      lease.startedAt === null &&
      isLate &&
      !byAgent &&
      !byService &&
      !isIdle &&
      !isBoot &&
      !isRemoval &&
      !seen.isCanceled
    ) {
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
    else this.#refused(call);
    this.#offersKept(state, call);
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
    const { verb, input } = call;
    if (input?.tokenHash !== undefined && input.agentId !== undefined)
      must(15, this.#isGenuine(input), `${verb} from nobody`);
    const judges: Partial<Record<string, () => void>> = {
      registerAgent: () => this.#registered(input),
      removeAgent: () => this.#removed(state, call),
      enqueue: () => this.#enqueued(value, call),
      claim: () => this.#claimed(state, value, call),
      cancel: () => this.#canceled(state, input),
      heartbeat: () => this.#beaten(state, value, call),
      start: () => this.#startAccepted(state, call),
      progress: () => this.#current(state, call),
      deliver: () => this.#delivered(state, call),
      release: () => must(3, this.#wasCurrent(call), "a release under no lease"),
      finish: () => this.#finished(call),
    };
    judges[verb]?.();
  }

  #registered({ id, orgId }: AnyInput): void {
    must(14, orgId === this.orgId, "a foreign agent");
    this.memory.agents.set(id, { boots: [], isRemoved: false, ignored: 0, ignoredAt: 0 });
  }

  #removed(state: PoolState, { input, held }: Call): void {
    const { agentId } = input;
    this.memory.agents.get(agentId)!.isRemoved = true;
    must(15, !state.agents.has(agentId) && !state.index.holding.has(agentId), "a removed agent is still there");
    if (held) must(15, state.jobs.get(held)?.lease?.agentId !== agentId, "its build is not free");
  }

  #canceled(state: PoolState, { buildId }: AnyInput): void {
    const { status } = this.disk.rows.builds.get(buildId)!;
    must(10, status === (state.jobs.get(buildId)?.lease ? "canceling" : "canceled"), `cancel left it ${status}`);
    this.memory.builds.get(buildId)!.isCanceled = true;
  }

  #startAccepted(state: PoolState, call: Call): void {
    this.#current(state, call);
    const { agentId, buildId } = call.input;
    const seen = this.memory.builds.get(buildId)!;
    this.memory.agents.get(agentId)!.ignored = 0;
    must(10, !seen.isCanceled, "a canceled build was started");
    if (call.build!.status === "assigned") this.#promise(buildId, Math.max(seen.promised, call.now + LEASE_MS));
  }

  #delivered(state: PoolState, call: Call): void {
    this.#current(state, call);
    const { buildId } = call.input;
    must(10, !this.memory.builds.get(buildId)!.isCanceled, "a canceled build was delivered");
    must(13, call.audits.includes(`build.deliver ${buildId}`), "secrets left without audit");
  }

  /** Whoever holds a lease, and says so in time, must not be turned away. */
  #refused(call: Call): void {
    const { verb, input, build, job, now } = call;
    const isHolder = this.#wasCurrent(call) && this.#isGenuine(input) && now < job!.lease!.expiresAt;
    const isCanceled = this.memory.builds.get(input?.buildId)?.isCanceled;
    if (isHolder && verb === "start") must(3, build!.status === "canceling", "the holder may not start");
    if (isHolder && (verb === "progress" || verb === "finish"))
      must(3, build!.status === "assigned", `${verb} of the holder was refused`);
    if (isHolder && verb === "release") must(3, false, "the holder may not release");
    if (verb === "finish" && build && isOver(build.status) && this.#isGenuine(input)) {
      const isSame = JSON.stringify(reportedBy(input)) === JSON.stringify(this.memory.builds.get(build.id)!.reported);
      must(
        9,
        !isSame || job?.fence !== input.fence || job?.agentId !== input.agentId,
        "the same result again was refused",
      );
    }
    if (verb === "deliver" && this.#wasCurrent(call) && now < job!.lease!.expiresAt) {
      must(13, isCanceled || build!.status !== "assigned", "a delivery was refused for nothing");
    }
  }

  /** Who was told to look has two seconds to do so, before another is told. */
  #offersKept(state: PoolState, { offers, input, now }: Call): void {
    for (const [buildId, { agentId, at }] of offers) {
      const isStill = state.builds.get(buildId)?.status === "queued" && state.waiting.has(agentId);
      if (!isStill || agentId === input?.agentId || now >= at + 2_000) continue;
      must(17, state.offers.get(buildId)?.agentId === agentId, "another was woken too soon");
    }
  }

  #wasCurrent({ job, build, input }: Call): boolean {
    return (
      !!build && isLive(build.status) && job?.lease?.fence === input.fence && job?.lease?.agentId === input.agentId
    );
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
    if (isOldBoot) {
      must(8, value === null, "an earlier boot was given a build");
      return;
    }
    const heldJob = held === undefined ? undefined : this.disk.rows.jobs.get(held);
    const lease = heldJob?.lease;
    if (
      lease &&
      lease.agentId === input.agentId &&
      lease.startedAt === null &&
      !isNewBoot &&
      this.disk.rows.builds.get(held!)?.status === "assigned" &&
      now < lease.expiresAt
    ) {
      must(8, value?.buildId === held && value.fence === lease.fence, "an unstarted lease was not handed out again");
    }
    if (value) {
      const job = state.jobs.get(value.buildId);
      must(8, job?.lease?.fence === value.fence && job?.lease?.agentId === input.agentId, "an answer that is no lease");
      must(5, value.expiresAt <= (job?.lease?.expiresAt ?? 0), "a promise longer than the lease");
      must(10, !this.memory.builds.get(value.buildId)!.isCanceled, "a canceled build was handed out");
      must(8, state.builds.get(value.buildId)?.status === "assigned", "a build at work was handed out again");
      this.#promise(value.buildId, value.expiresAt);
      return;
    }
    const isAble =
      !state.index.holding.has(input.agentId) && !agent.isDraining && agent.spentAt === null && agent.ignored < 2;
    if (isAble) must(12, firstEligible(state, agent, now) === undefined, "an eligible build was withheld");
  }

  #beaten(state: PoolState, value: AnyInput, call: Call): void {
    const { input, now } = call;
    this.memory.agents.get(input.agentId)!.ignored = 0;
    if (input.fence == null || value.reason === "lease-lost") return;
    this.#current(state, call);
    const seen = this.memory.builds.get(input.buildId)!;
    const until = Date.parse(value.leaseExpiresAt);
    must(5, state.jobs.get(input.buildId)!.lease!.expiresAt === until, "a promise that is not the lease");
    const lease = state.jobs.get(input.buildId)!.lease!;
    if (seen.isCanceled)
      must(10, value.cancel && value.reason === "canceled", "a heartbeat did not tell of the cancel");
    else if (lease.stop)
      must(10, value.cancel && value.reason === "timeout", "a heartbeat did not tell of the timeout");
    else must(10, !value.cancel, "a heartbeat stopped a build for no reason");
    if (lease.startedAt !== null && !lease.stop)
      must(5, until >= now + LEASE_MS, "a heartbeat did not extend the lease");
    if (lease.stop)
      must(17, until <= Math.max(lease.stop.at + GRACE_AFTER_STOP_MS, seen.promised), "a stopped build is kept alive");
    this.#promise(input.buildId, until);
  }

  #finished(call: Call): void {
    const { input, build, job } = call;
    const seen = this.memory.builds.get(input.buildId)!;
    const reported = reportedBy(input);
    const ended = this.disk.rows.builds.get(input.buildId)!;
    must(9, isOver(ended.status), "a finish that did not end the build");
    if (build && isOver(build.status)) {
      must(9, JSON.stringify(seen.reported) === JSON.stringify(reported), "another result was accepted");
      must(3, job?.fence === input.fence && job?.agentId === input.agentId, "a stranger's finish was accepted");
      return;
    }
    must(3, this.#wasCurrent(call), "a finish under a stale lease was accepted");
    must(4, build?.status !== "assigned", "a build ended before it started");
    seen.reported = reported;
    const expected = input.status === "succeeded" ? "succeeded" : "failed";
    if (seen.isCanceled) must(10, ended.status === "canceled", `a canceled build ended ${ended.status}`);
    else if (ended.reason === "timeout") must(17, isOvertime(job!, call.now), "a timeout before its time");
    else must(9, ended.status === expected, `${input.status} became ${ended.status}`);
  }

  /** The memory as it is now, to be put back when the pool is restored to this point. */
  copy(): Memory {
    return structuredClone(this.memory);
  }
}
