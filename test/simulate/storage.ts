import { apply } from "../../src/domain/pool/apply.ts";
import {
  type AgentFacts,
  type AuditFact,
  type BuildFacts,
  type Change,
  type JobFacts,
  type KeyedBuild,
  NO_REPORT,
  type Records,
  type Report,
} from "../../src/domain/pool/facts.ts";
import { emptyState, type PoolState } from "../../src/domain/pool/state.ts";
import { isEnded } from "../../src/protocol/build-states.ts";

interface Rows {
  orgId: string | null;
  fence: number;
  agents: Map<string, AgentFacts>;
  revoked: Map<string, number>;
  builds: Map<string, BuildFacts>;
  jobs: Map<string, JobFacts>;
  reports: Map<string, Report>;
  numbers: Map<string, number>;
  keys: Map<string, KeyedBuild>;
  dirty: Set<string>;
  told: number;
  unchecked: number | null;
  tellAgainAfter: number | null;
  entries: Map<number, { audit: AuditFact | null }>;
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
  numbers: new Map(),
  keys: new Map(),
  dirty: new Set(),
  told: 0,
  unchecked: null,
  tellAgainAfter: null,
  entries: new Map(),
  appended: 0,
});

/** The tables of the object, in memory. Survives evictions and crashes. Rows are replaced, never changed in place. */
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
          break;
        case "job":
          rows.jobs.set(change.job.buildId, change.job);
          break;
        case "report":
          rows.reports.set(change.buildId, { ...(rows.reports.get(change.buildId) ?? NO_REPORT), ...change.report });
          break;
        case "number":
          rows.numbers.set(change.repoId, change.number);
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
        case "dirty":
          rows.dirty.add(change.buildId);
          break;
        case "told":
          rows.told = change.sequence;
          break;
        case "unchecked":
          rows.unchecked = change.sequence;
          break;
        case "compared":
          rows.unchecked = null;
          break;
        case "tell-again":
          rows.tellAgainAfter = change.after;
          break;
        case "clean":
          rows.dirty.delete(change.buildId);
          break;
        case "audit":
          rows.entries.set(++rows.appended, { audit: change.entry });
          break;
        case "close":
          rows.entries.set(++rows.appended, { audit: null });
          break;
        case "delivered":
          for (const seq of change.entries) rows.entries.delete(seq);
          break;
      }
    }
  }

  /** The state with which a new object starts. */
  load(isNew = false): PoolState {
    const { orgId, fence, agents, revoked, builds, jobs, dirty, told, tellAgainAfter, entries, unchecked } = this.rows;
    const state = emptyState(this);
    const changes: Change[] = [
      { kind: "fence", fence },
      { kind: "told", sequence: told },
      { kind: "tell-again", after: tellAgainAfter },
    ];
    if (unchecked !== null) changes.push({ kind: "unchecked", sequence: unchecked });
    if (orgId !== null) changes.push({ kind: "org", orgId });
    for (const agent of agents.values()) changes.push({ kind: "agent", agent });
    for (const [tokenId, at] of revoked) changes.push({ kind: "revoked", tokenId, at });
    for (const build of builds.values()) {
      if (!isEnded(build.status)) changes.push({ kind: "build", build }, { kind: "job", job: jobs.get(build.id)! });
    }
    for (const buildId of dirty) changes.push({ kind: "dirty", buildId, at: 0 });
    if (entries.size > 0) changes.push({ kind: "flush", at: 0, failures: 0 });
    const untold = [...dirty].map((buildId) => builds.get(buildId)?.version ?? 0);
    apply(state, [...changes, ...(isNew ? [] : [{ kind: "loaded", sequence: Math.max(0, ...untold) } as const])]);
    return state;
  }

  /** The rows as they are now, to restore them later. */
  snapshot(): Rows {
    const { orgId, fence, agents, revoked, builds, jobs, reports, numbers, keys, dirty, entries, appended } = this.rows;
    const { told, tellAgainAfter, unchecked } = this.rows;
    return {
      orgId,
      fence,
      appended,
      told,
      unchecked,
      tellAgainAfter,
      agents: new Map(agents),
      revoked: new Map(revoked),
      builds: new Map(builds),
      jobs: new Map(jobs),
      reports: new Map(reports),
      numbers: new Map(numbers),
      keys: new Map(keys),
      dirty: new Set(dirty),
      entries: new Map(entries),
    };
  }

  ended(buildId: string) {
    const build = this.rows.builds.get(buildId);
    return build && isEnded(build.status) ? { build, job: this.rows.jobs.get(buildId)! } : undefined;
  }

  endedAfter(seq: number, limit: number) {
    const ended = [...this.rows.builds.values()].filter((build) => isEnded(build.status) && build.seq > seq);
    return ended.sort((left, right) => left.seq - right.seq).slice(0, limit);
  }

  keyed(caller: string, key: string) {
    return this.rows.keys.get(`${caller} ${key}`);
  }

  lastNumber(repoId: string) {
    return this.rows.numbers.get(repoId) ?? 0;
  }

  pendingEntries() {
    return this.rows.entries.size;
  }

  lastSeq() {
    let last = 0;
    for (const { seq } of this.rows.builds.values()) last = Math.max(last, seq);
    return last;
  }
}
