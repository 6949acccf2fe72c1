import type { AuditFact } from "../../src/queue/commands/commands.ts";
import type { Stored, StoredBuild } from "../../src/queue/commands/reconcile.ts";
import {
  type HeardSequence,
  isSequenceDue,
  NOTHING_HEARD,
  revocationsToTell,
} from "../../src/queue/commands/sequence.ts";
import { nextSequence } from "../../src/queue/state/decision.ts";
import type { BuildFacts, JobFacts } from "../../src/queue/state/facts.ts";
import type { SimPool } from "./pool.ts";
import { isEnded } from "./specification.ts";
import type { SimStorage } from "./storage.ts";
import { must } from "./violation.ts";

export interface Batch {
  builds: { buildId: string; version: number; build: BuildFacts; first: JobFacts | undefined }[];
  audits: [seq: number, audit: AuditFact][];
  /** Tokens that are deleted again after D1 was restored. */
  revoked: string[];
  isDue: boolean;
  /** The pool's sequence, and the one from which D1 must be complete to become complete up to it. */
  sequence: { written: number; from: number };
}

const BATCH_SIZE = 20;

interface Row {
  version: number;
  build: BuildFacts;
  first: JobFacts | undefined;
}

/** The jobs of a build in its record. A record is replaced in storage, never changed in place. */
const jobsIn = ({ rows }: SimStorage, buildId: string): unknown[] =>
  (rows.graphs.get(buildId)?.graph.jobs ?? [{ id: buildId }]).flatMap(({ id }) => {
    const { end, gate, leak } = rows.jobs.get(id)!;
    return [end, gate, leak, rows.outputs.get(id)];
  });

const isSameList = (left: readonly unknown[], right: readonly unknown[]): boolean =>
  left.length === right.length && left.every((one, at) => one === right[at]);

/** The part of a build that D1 has. */
const storedOf = ({ build, first }: Row): StoredBuild => {
  const { id, number, repoId, pipelineId, branch, commitSha, trigger, priority, retryOf, createdBy, origin } = build;
  const { status, exitCode, reason, message, leak, queuedAt, startedAt, finishedAt, version, trust, host } = build;
  const { agentId, attempt } = build.plannedBy ?? { agentId: first?.agentId ?? null, attempt: first?.attempt ?? 0 };
  return {
    ...{ id, number, repoId, pipelineId, branch, commitSha, trigger, priority, retryOf, agentId, attempt },
    ...{ status, exitCode, reason, leak, queuedAt, startedAt, finishedAt, version },
    ...(createdBy !== undefined && { createdBy }),
    ...(origin !== undefined && { origin }),
    ...(message !== undefined && { message }),
    ...(trust && { trust }),
    ...(host && { host }),
  };
};

/**
 * D1 and the archive, as the pool writes to them. A batch is atomic, and an older version never replaces a newer one.
 */
export class SimDatabase {
  builds = new Map<string, Row>();
  audits = new Set<AuditFact>();
  /** The version of each build's record in the archive. */
  readonly records = new Map<string, number>();
  /** The jobs of a build in each record. */
  readonly #jobs = new Map<string, readonly unknown[]>();
  /** Builds that were deleted here. */
  readonly erased = new Set<string>();
  /** Tokens that D1 considers valid. */
  tokens = new Set<string>(["t0"]);
  heard: HeardSequence = NOTHING_HEARD;
  /** How often D1 or the pool was restored. Writes in progress are then lost. */
  restores = 0;
  /** One of the two was restored: D1 may know a later version of a build than the pool. */
  wasRestored = false;

  /** The pool's next report. The records of ended builds are already stored, unless the archive is unavailable. */
  read({ storage, state, context }: Pick<SimPool, "storage" | "state" | "context">, isArchiveAway: boolean): Batch {
    const { rules } = context;
    const builds = [...state.outbox.lists.due.keys()].slice(0, BATCH_SIZE).flatMap((buildId) => {
      const build = storage.rows.builds.get(buildId)!;
      const isRecorded = isEnded(build.status) && !isArchiveAway;
      if (isRecorded) this.records.set(buildId, build.version);
      if (isRecorded) this.#jobs.set(buildId, jobsIn(storage, buildId));
      const { version } = build;
      return rules.mayTell(build, isRecorded)
        ? [{ buildId, version, build, first: storage.rows.jobs.get(buildId) }]
        : [];
    });
    const revoked = revocationsToTell(state);
    return {
      builds,
      audits: [...storage.rows.audits].slice(0, BATCH_SIZE),
      revoked,
      isDue: isSequenceDue(state, revoked),
      sequence: { written: nextSequence(state), from: state.databaseSequence },
    };
  }

  /** @returns D1's earlier rows */
  write({ builds, audits, revoked, sequence }: Batch, storage: SimStorage): HeardSequence {
    const found = this.heard;
    const { written, from } = sequence;
    for (const row of builds) {
      const { buildId, version } = row;
      const isRecorded = this.records.has(buildId) || this.erased.has(buildId);
      must(16, isRecorded || !isEnded(row.build.status), "D1 got an end without a record");
      if ((this.builds.get(buildId)?.version ?? -1) < version) this.builds.set(buildId, row);
      const known = storage.rows.builds.get(buildId);
      const isNewer = known && known.version < this.builds.get(buildId)!.version;
      must(16, !isNewer || this.wasRestored, "D1 is newer than the pool");
    }
    for (const [, audit] of audits) this.audits.add(audit);
    for (const token of revoked) this.tokens.delete(token);
    this.heard = {
      sequence: Math.max(found.sequence, written),
      complete: found.complete < from ? found.complete : Math.max(found.complete, written),
    };
    return found;
  }

  /** The service revokes a token: D1 deletes it, and records it in the audit. */
  revokeToken(at: number, subject: string): void {
    this.tokens.delete(subject);
    this.audits.add({ at, actor: "token:t", action: "token.revoke", subject, requestId: null, detail: {} });
  }

  /** The data that a restored pool reads. */
  stored(): Stored {
    const audits = [...this.audits];
    const subjects = (...actions: string[]) =>
      audits.filter(({ action }) => actions.includes(action)).map(({ subject }) => subject);
    const numbers = new Map<string, number>();
    for (const { build } of this.builds.values())
      numbers.set(build.repoId, Math.max(build.number, numbers.get(build.repoId) ?? 0));
    for (const { action, detail } of audits) {
      if (action !== "build.delete") continue;
      const { repoId, number } = detail as { repoId: string; number: number };
      numbers.set(repoId, Math.max(number, numbers.get(repoId) ?? 0));
    }
    return {
      heard: this.heard,
      builds: [...this.builds.values()].map(storedOf),
      numbers: [...numbers].map(([repoId, number]) => ({ repoId, number })),
      removedAgents: subjects("agent.remove", "agent.forget"),
      revoked: subjects("token.revoke"),
      deleted: [
        ...subjects("build.delete").map((buildId) => ({ buildId, deleted: "build" as const })),
        ...subjects("log.delete").map((buildId) => ({ buildId, deleted: "log" as const })),
      ],
    };
  }

  /** Takes a snapshot of the rows. The function restores them. */
  snapshot(): () => void {
    const { builds, audits, tokens, heard } = this;
    const copy = { builds: new Map(builds), audits: new Set(audits), tokens: new Set(tokens), heard };
    return () => {
      Object.assign(this, copy);
      this.restores++;
      this.wasRestored = true;
    };
  }

  /** Reports from before the restore have arrived by then. */
  poolWasRestored(): void {
    this.restores++;
    this.wasRestored = true;
  }

  /** Removes a deleted build. */
  erase(buildId: string): void {
    this.builds.delete(buildId);
    this.records.delete(buildId);
    this.erased.add(buildId);
  }

  /** Once every build has ended and the outbox is empty, D1 and the pool must be equal. */
  compare(storage: SimStorage): void {
    for (const [buildId, { version, status }] of storage.rows.builds) {
      const known = this.builds.get(buildId);
      if (this.wasRestored && this.erased.has(buildId)) continue;
      const stored = known?.build.status;
      must(16, stored === status, `D1 says ${stored}, the pool ${status}`);
      must(16, this.wasRestored || known?.version === version, "D1 has another version than the pool");
      const recorded = this.#jobs.get(buildId);
      const isSame = recorded !== undefined && isSameList(recorded, jobsIn(storage, buildId));
      must(39, this.wasRestored || isSame, "the record of a build has other jobs than the pool");
    }
    for (const [buildId, { build }] of this.builds) {
      const isKnown = storage.rows.builds.has(buildId) || build.finishedAt !== null;
      must(16, isKnown, "D1 has an active build that the pool does not know");
    }
    for (const [buildId, { deletion }] of storage.rows.deletions) {
      must(18, deletion.deleted === "log" || !this.builds.has(buildId), "D1 has a build that was deleted");
    }
    must(16, storage.rows.audits.size === 0, "the outbox still has entries");
    must(16, storage.rows.closes.size === 0, "a log was not closed");
  }
}
