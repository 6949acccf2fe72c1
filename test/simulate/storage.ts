import type { JobGraph } from "../../src/pipeline/graph/graph.ts";
import { isEnded } from "../../src/protocol/build-states.ts";
import type { AuditFact, KeyedBuild, KnownDelivery } from "../../src/queue/commands/commands.ts";
import type { Head, HeadKey } from "../../src/queue/commands/heads.ts";
import type { AgentFacts } from "../../src/queue/state/agent-facts.ts";
import { apply } from "../../src/queue/state/apply.ts";
import { type DayCount, laterCount, NO_BUILDS, toDayCount } from "../../src/queue/state/counts.ts";
import {
  BUILD_CHANNELS,
  type BuildChannel,
  type BuildFacts,
  type Change,
  type Deletion,
  type JobFacts,
  NO_REPORT,
  type Report,
} from "../../src/queue/state/facts.ts";
import { isHostDue } from "../../src/queue/state/host-state.ts";
import { emptyState, type PoolState, type Records } from "../../src/queue/state/state.ts";

interface Rows {
  orgId: string | null;
  fence: number;
  agents: Map<string, AgentFacts>;
  revoked: Map<string, number>;
  builds: Map<string, BuildFacts>;
  jobs: Map<string, JobFacts>;
  reports: Map<string, Report>;
  /** By planned build: its graph and its original text. */
  graphs: Map<string, { graph: JobGraph; text: string }>;
  outputs: Map<string, Record<string, string>>;
  numbers: Map<string, number>;
  dayCount: DayCount;
  keys: Map<string, KeyedBuild>;
  heads: Map<string, readonly Head[]>;
  deliveries: Map<string, KnownDelivery>;
  /** Ended builds that were reported everywhere. */
  told: Set<string>;
  /** Deleted builds, and whether D1 has processed the deletion. */
  deletions: Map<string, { deletion: Deletion; isDone: boolean }>;
  /** The highest sequence reported to D1. */
  sequence: number;
  unchecked: number | null;
  tellAgain: { after: number | null; at: number };
  audits: Map<number, AuditFact>;
  closes: Map<number, { jobId: string; fence: number }>;
  appended: number;
}

const emptyRows = (): Rows => ({
  orgId: null,
  fence: 0,
  agents: new Map(),
  revoked: new Map(),
  builds: new Map(),
  jobs: new Map(),
  reports: new Map(),
  graphs: new Map(),
  outputs: new Map(),
  numbers: new Map(),
  dayCount: NO_BUILDS,
  keys: new Map(),
  heads: new Map(),
  deliveries: new Map(),
  told: new Set(),
  deletions: new Map(),
  sequence: 0,
  unchecked: null,
  tellAgain: { after: null, at: 0 },
  audits: new Map(),
  closes: new Map(),
  appended: 0,
});

const due = (channel: BuildChannel, buildId: string): Change => ({ kind: "due", channel, buildId, at: 0 });

const keyText = ({ pipelineId, ref, purpose }: HeadKey): string => [pipelineId, ref, purpose].join(" ");

/**
 * The tables of the object, in memory. They survive evictions and crashes. Rows are replaced, never changed in place.
 */
export class SimStorage implements Records {
  rows = emptyRows();

  store(changes: readonly Change[]): void {
    const { rows } = this;
    for (const change of changes) {
      switch (change.kind) {
        case "org":
          rows.orgId = change.orgId;
          break;
        case "fence":
          rows.fence = change.fence;
          break;
        case "build":
          rows.builds.set(change.build.id, change.build);
          rows.told.delete(change.build.id);
          break;
        case "job":
          rows.jobs.set(change.job.id, change.job);
          break;
        case "report":
          rows.reports.set(change.jobId, { ...(rows.reports.get(change.jobId) ?? NO_REPORT), ...change.report });
          break;
        case "graph":
          rows.graphs.set(change.buildId, change);
          rows.jobs.delete(change.buildId);
          break;
        case "outputs":
          rows.outputs.set(change.jobId, change.outputs);
          break;
        case "number":
          rows.numbers.set(change.repoId, change.number);
          break;
        case "day-count":
          rows.dayCount = change.count;
          break;
        case "key":
          rows.keys.set(`${change.caller} ${change.key}`, change.keyed);
          break;
        case "agent":
          rows.agents.set(change.agent.id, change.agent);
          break;
        case "agent-removed":
          rows.agents.delete(change.agentId);
          break;
        case "revoked":
          rows.revoked.set(change.tokenId, change.at);
          break;
        case "heads":
          rows.heads.set(keyText(change.key), change.heads);
          break;
        case "delivery":
          rows.deliveries.set(`${change.connectionId} ${change.deliveryId}`, change.known);
          break;
        case "heard":
          rows.told.add(change.buildId);
          break;
        case "deleted": {
          const { deletion } = change;
          rows.deletions.set(deletion.buildId, { deletion, isDone: false });
          if (deletion.deleted === "log") break;
          this.#deleteBuild(deletion.buildId);
          break;
        }
        case "deletions-done":
          for (const id of change.buildIds) rows.deletions.set(id, { ...rows.deletions.get(id)!, isDone: true });
          break;
        case "untold":
          rows.told.delete(change.buildId);
          rows.builds.set(change.buildId, { ...rows.builds.get(change.buildId)!, isTold: false });
          break;
        case "told":
          if (!change.isInMemory) rows.sequence = change.sequence;
          break;
        case "unchecked":
          rows.unchecked = change.sequence;
          break;
        case "compared":
          rows.unchecked = null;
          break;
        case "tell-again":
          rows.tellAgain = change;
          break;
        case "audit":
          rows.audits.set(++rows.appended, change.entry);
          break;
        case "entries-delivered":
          for (const seq of change.entries) (change.channel === "lists" ? rows.audits : rows.closes).delete(seq);
          break;
        case "close":
          rows.closes.set(++rows.appended, { jobId: change.jobId, fence: change.fence });
          break;
      }
    }
  }

  #jobIdsOf(buildId: string): string[] {
    return this.rows.graphs.get(buildId)?.graph.jobs.map(({ id }) => id) ?? [buildId];
  }

  #jobsOf(buildId: string): Change[] {
    const planned = this.rows.graphs.get(buildId);
    const jobs = this.#jobIdsOf(buildId).map((id): Change => ({ kind: "job", job: this.rows.jobs.get(id)! }));
    return planned ? [{ kind: "graph", buildId, ...planned }, ...jobs] : jobs;
  }

  /** The gates that ask, or asked, by their jobs. */
  askedGates(): Map<string, JobFacts> {
    return new Map([...this.rows.jobs].filter(([, { gate }]) => gate));
  }

  /** Deletes a build with its jobs. */
  #deleteBuild(buildId: string): void {
    const { rows } = this;
    const jobIds = this.#jobIdsOf(buildId);
    rows.graphs.delete(buildId);
    for (const id of [buildId, ...jobIds])
      for (const table of [rows.builds, rows.jobs, rows.reports, rows.outputs]) table.delete(id);
  }

  /** Returns the state with which a new object starts. */
  load(isNew = false): PoolState {
    const { orgId, fence, agents, revoked, builds, told, deletions, sequence } = this.rows;
    const { unchecked, tellAgain } = this.rows;
    const state = emptyState(this);
    const changes: Change[] = [
      { kind: "fence", fence },
      { kind: "told", sequence },
      { ...tellAgain, kind: "tell-again" },
    ];
    if (unchecked !== null) changes.push({ kind: "unchecked", sequence: unchecked });
    if (orgId !== null) changes.push({ kind: "org", orgId });
    for (const agent of agents.values()) changes.push({ kind: "agent", agent });
    for (const [tokenId, at] of revoked) changes.push({ kind: "revoked", tokenId, at });
    for (const build of builds.values()) {
      const hasEnded = isEnded(build.status);
      if (!hasEnded) changes.push({ kind: "build", build }, ...this.#jobsOf(build.id));
      if (hasEnded && told.has(build.id)) continue;
      if (hasEnded) changes.push({ kind: "sequence", sequence: build.version }, due("logs", build.id));
      for (const id of [build.id, ...this.#jobIdsOf(build.id)])
        changes.push({ kind: "granted", fence: this.rows.jobs.get(id)?.fence ?? build.plannedBy?.fence ?? 0 });
      if (!build.isTold) changes.push(due("lists", build.id));
      if (isHostDue(build)) changes.push(due("hosts", build.id));
    }
    for (const { deletion, isDone } of deletions.values()) if (!isDone) changes.push({ kind: "deleted", deletion });
    for (const channel of BUILD_CHANNELS)
      if (this.pending(channel) > 0) changes.push({ kind: "attempt", channel, at: 0, failures: 0 });
    if (!isNew) changes.push({ kind: "loaded" });
    apply(state, changes);
    return state;
  }

  /** Returns the current rows, to restore them later. */
  snapshot(): Rows {
    const { agents, revoked, builds, jobs, reports, numbers, keys, told, deletions, audits, closes } = this.rows;
    const { heads, deliveries, graphs, outputs } = this.rows;
    return {
      ...this.rows,
      agents: new Map(agents),
      revoked: new Map(revoked),
      builds: new Map(builds),
      deletions: new Map(deletions),
      jobs: new Map(jobs),
      reports: new Map(reports),
      graphs: new Map(graphs),
      outputs: new Map(outputs),
      numbers: new Map(numbers),
      keys: new Map(keys),
      heads: new Map(heads),
      deliveries: new Map(deliveries),
      told: new Set(told),
      audits: new Map(audits),
      closes: new Map(closes),
    };
  }

  /** Returns the fence for which the log of an ended build is closed; 0 if it has none. */
  lastFence(buildId: string): number {
    return this.rows.builds.get(buildId)?.plannedBy?.fence ?? this.rows.jobs.get(buildId)?.fence ?? 0;
  }

  ended(buildId: string) {
    const build = this.rows.builds.get(buildId);
    return build && isEnded(build.status) ? build : undefined;
  }

  endedJob(jobId: string) {
    const job = this.rows.jobs.get(jobId);
    const build = job?.end && this.rows.builds.get(job.buildId);
    return job && build ? { build, job } : undefined;
  }

  deletion(buildId: string) {
    return this.rows.deletions.get(buildId)?.deletion;
  }

  rememberedDeletions() {
    return [...this.rows.deletions.values()].map(({ deletion }) => deletion);
  }

  endedAfter(seq: number, limit: number) {
    const ended = [...this.rows.builds.values()].filter(({ id, seq: own }) => this.rows.told.has(id) && own > seq);
    return ended.sort((left, right) => left.seq - right.seq).slice(0, limit);
  }

  keyed(caller: string, key: string) {
    return this.rows.keys.get(`${caller} ${key}`);
  }

  heads(key: HeadKey) {
    return this.rows.heads.get(keyText(key)) ?? [];
  }

  delivery(connectionId: string, deliveryId: string) {
    return this.rows.deliveries.get(`${connectionId} ${deliveryId}`);
  }

  outputs(jobId: string) {
    return this.rows.outputs.get(jobId) ?? {};
  }

  lastNumber(repoId: string) {
    return this.rows.numbers.get(repoId) ?? 0;
  }

  pending(channel: BuildChannel) {
    return { lists: this.rows.audits.size, logs: this.rows.closes.size, hosts: 0 }[channel];
  }

  lastDayCount() {
    let newest: BuildFacts | undefined;
    for (const build of this.rows.builds.values()) {
      if (build.seq > (newest?.seq ?? 0)) newest = build;
    }
    return newest ? laterCount(toDayCount(newest), this.rows.dayCount) : this.rows.dayCount;
  }

  lastSeq() {
    let last = 0;
    for (const { seq } of [...this.rows.builds.values(), ...this.rows.jobs.values()]) last = Math.max(last, seq);
    return last;
  }
}
