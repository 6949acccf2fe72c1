import { type BuildRecord as ArchivedBuild, getRecord, putRecord } from "../../archive/records.ts";
import {
  projectAudit,
  projectBuild,
  projectPool,
  projectRevocations,
  projectUses,
  readPool,
} from "../../db/projection.ts";
import { log } from "../../log.ts";
import type { Build } from "../../protocol/build.ts";
import { isEnded } from "../../protocol/build-states.ts";
import { type HeardSequence, isSequenceDue, NOTHING_HEARD, revocationsToTell } from "../../queue/commands/sequence.ts";
import { toBuild } from "../../queue/read/record.ts";
import { nextSequence } from "../../queue/state/decision.ts";
import { type Delivered, nothingDelivered } from "../../queue/state/outbox.ts";
import { RULES } from "../../queue/state/rules.ts";
import type { PoolState } from "../../queue/state/state.ts";
import { listArtifactPlaces, listTestPlaces, seenArtifactsByJob, seenTestsByJob, withWholeJobs } from "./build-jobs.ts";
import type { LoadedBuild } from "./build-rows.ts";
import { FailureCounts, type Ways } from "./channels.ts";
import type { DeadLetterBody } from "./dead-letters.ts";
import type { AuditOutboxEntry } from "./tables.ts";

/** Builds, and audit entries, in one attempt. */
const BATCH_SIZE = 100;
/**
 * Ended builds with planned jobs in one attempt. The record of one such build may take some tens of megabytes of
 * memory.
 */
const LARGE_BATCH_SIZE = 10;
/** Rejections by D1 after which a row becomes a dead letter. */
const MAX_REJECTIONS = 5;
/**
 * SQLite's codes for a wrong row. Only these codes are a reliable sign, because D1's own errors can also contain words
 * such as "too long" ("D1 DB is overloaded. Requests queued for too long.").
 */
const INVALID_ROW = /\bSQLITE_(?:CONSTRAINT|TOOBIG|MISMATCH)/;

/** One build or audit entry on its way to D1. */
interface PendingWrite {
  name: string;
  statements: D1PreparedStatement[];
  /** Whether the write raises the pool's sequence in D1. Every write except a hand-out does. */
  raises: boolean;
  markDelivered(result: Delivered): void;
  deadLetter: DeadLetterBody;
}

/** The pool's part of a batch. `isDue` means that the pool sends its sequence even if it has nothing else to send. */
type Told = Parameters<typeof projectPool>[1] & { revoked: string[]; isDue: boolean };

/** A row that D1 rejected, with D1's words. */
interface Rejection {
  write: PendingWrite;
  reason: string;
}

/**
 * Sends builds and audit entries to D1, once the archive has the records of ended builds. Each attempt can be repeated.
 */
export class Lists {
  readonly #ways: Ways;
  readonly #rejections = new FailureCounts();

  constructor(ways: Ways) {
    this.#ways = ways;
  }

  /** Makes one attempt with the oldest entries and builds. @returns what was delivered */
  async deliver(): Promise<Delivered> {
    const { orgId, state } = this.#ways.machine;
    const result = nothingDelivered();
    const revoked = revocationsToTell(state);
    const isDue = isSequenceDue(state, revoked);
    const { databaseSequence: told, builds } = state;
    const pool = { orgId, sequence: nextSequence(state), told, active: builds.size, at: Date.now(), revoked, isDue };
    const audits = this.#ways.machine.storage.auditEntries(BATCH_SIZE).map((queued) => this.#auditWrite(orgId, queued));
    const writes = [...(await this.#buildWrites(orgId, state, result)), ...audits];
    const rejected: Rejection[] = [];
    await this.#send(pool, writes, result, rejected);
    this.#count(rejected, writes.length, result);
    return result;
  }

  /** Chooses the next builds, active builds first. A problem with the archive then does not delay active builds. */
  #nextBuilds({ outbox, builds }: Readonly<PoolState>): string[] {
    const ids = [...outbox.lists.due.keys()];
    const ended = ids.filter((id) => !builds.has(id));
    return [
      ...ids.filter((id) => builds.has(id)).slice(0, BATCH_SIZE),
      ...this.#ways.failures.fewestFirst(ended, (id) => id).slice(0, BATCH_SIZE),
    ];
  }

  /** Prepares ended builds with planned jobs one by one, so that only one of them is in memory. */
  async #buildWrites(orgId: string, state: Readonly<PoolState>, result: Delivered): Promise<PendingWrite[]> {
    const builds = this.#ways.machine.storage.builds.of(this.#nextBuilds(state));
    const isLarge = ({ build }: LoadedBuild) => build.until !== null && isEnded(build.status);
    const small = builds.filter((one) => !isLarge(one)).map((one) => this.#prepareBuild(orgId, one, result));
    const writes = await Promise.all(small);
    const large = this.#ways.failures.fewestFirst(builds.filter(isLarge), ({ build }) => build.id);
    for (const one of large.slice(0, LARGE_BATCH_SIZE)) writes.push(await this.#prepareBuild(orgId, one, result));
    return writes.filter((write) => write !== null);
  }

  /** Prepares a build's write to D1. Returns null while the archive lacks a record that it must have before D1. */
  async #prepareBuild(orgId: string, loaded: LoadedBuild, result: Delivered): Promise<PendingWrite | null> {
    const { build, first, report } = loaded;
    const hasEnded = isEnded(build.status);
    const own = toBuild(orgId, build, first, report);
    const whole = hasEnded ? withWholeJobs(this.#ways.machine.storage, own) : own;
    const isRecorded = hasEnded && (await this.#record(whole, loaded, result));
    return RULES.mayTell(build, isRecorded) ? this.#buildWrite(whole, loaded) : null;
  }

  /** @returns whether the archive has the record of an ended build */
  async #record(whole: Build, loaded: LoadedBuild, result: Delivered): Promise<boolean> {
    const { build } = loaded;
    const record: ArchivedBuild = {
      ...whole,
      plan: this.#ways.machine.storage.jobRows.findPlan(build.id),
      // A person may delete the log. The archive therefore keeps no line of it.
      failedLine: null,
      requires: build.requires,
      hasRunValues: build.inputBytes !== 0,
    };
    try {
      await putRecord(this.#ways.env.ARCHIVE, { ...record, ...(await this.#findRemains(record, loaded)) });
      this.#ways.failures.forget(build.id);
      return true;
    } catch (error) {
      log.error("pool.record_failed", { orgId: this.#ways.machine.orgId, buildId: build.id, error });
      this.#ways.failures.add(build.id);
      result.failed = true;
      return false;
    }
  }

  /** Finds artifacts and test results for the record. For a restored pool, the existing record counts. */
  async #findRemains(record: ArchivedBuild, { first }: LoadedBuild): Promise<Partial<ArchivedBuild>> {
    const { id, finishedAt } = record;
    const artifactPlaces = listArtifactPlaces(this.#ways.machine.storage, id);
    const testPlaces = listTestPlaces(this.#ways.machine.storage, id);
    const remains = {
      ...(artifactPlaces.length > 0 && {
        artifacts: seenArtifactsByJob(this.#ways.machine.storage, id),
        artifactPlaces,
      }),
      ...(testPlaces.length > 0 && { testReports: seenTestsByJob(this.#ways.machine.storage, id), testPlaces }),
    };
    const isUnknown = first?.fence === 0 && first.attempt > 0;
    if (Object.keys(remains).length > 0 || !isUnknown || finishedAt === null) return remains;
    const before = await getRecord(this.#ways.env.ARCHIVE, { ...record, finishedAt });
    return {
      ...(before?.artifactPlaces && { artifacts: before.artifacts ?? {}, artifactPlaces: before.artifactPlaces }),
      ...(before?.testPlaces && {
        testReports: before.testReports ?? {},
        testPlaces: before.testPlaces,
        tests: before.tests ?? null,
      }),
    };
  }

  #buildWrite(whole: Build, { build }: LoadedBuild): PendingWrite {
    const { id: buildId, version } = build;
    return {
      name: buildId,
      statements: projectBuild(this.#ways.db, whole, version),
      raises: true,
      markDelivered: (result) => result.builds.push({ buildId, version }),
      deadLetter: { kind: "build", buildId, version },
    };
  }

  #auditWrite(orgId: string, { seq, entry: queued }: { seq: number; entry: AuditOutboxEntry }): PendingWrite {
    const { id, entry, variableIds = [] } = queued;
    const at = new Date(entry.at).toISOString();
    const agentId = String(entry.detail.agentId);
    const use = { orgId, buildId: entry.subject, agentId, at, variableIds };
    const uses = variableIds.length > 0 ? projectUses(this.#ways.db, use) : [];
    return {
      name: id,
      statements: [projectAudit(this.#ways.db, { ...entry, id, orgId, at }), ...uses],
      raises: variableIds.length === 0 && entry.action !== "build.deliver",
      markDelivered: (result) => result.entries.push(seq),
      deadLetter: { kind: "audit", ...queued },
    };
  }

  /**
   * Sends a batch. Halves the batch only if the error says that a row is wrong. Any other error concerns the whole
   * batch.
   */
  async #send(pool: Told, writes: PendingWrite[], result: Delivered, rejected: Rejection[]): Promise<void> {
    const { orgId, revoked, isDue } = pool;
    const raises = isDue || writes.some((write) => write.raises);
    if (writes.length === 0 && !raises) return;
    const statements = writes.flatMap((write) => write.statements);
    const before = [readPool(this.#ways.db, orgId), ...projectRevocations(this.#ways.db, orgId, revoked)];
    const poolUpdate = projectPool(this.#ways.db, pool);
    let newestSequence = NOTHING_HEARD;
    try {
      const [first] = await this.#ways.db.batch<HeardSequence>(
        raises ? [...before, ...statements, poolUpdate] : statements,
      );
      if (raises) newestSequence = first?.results[0] ?? NOTHING_HEARD;
    } catch (error) {
      const reason = error instanceof Error ? error.message : "unknown";
      const middle = writes.length >> 1;
      if (writes.length === 0 || !INVALID_ROW.test(reason)) {
        log.error("pool.outbox_failed", { orgId, reason });
        result.failed = true;
      } else if (middle > 0) {
        await this.#send(pool, writes.slice(0, middle), result, rejected);
        await this.#send(pool, writes.slice(middle), result, rejected);
      } else rejected.push({ write: writes[0]!, reason });
      return;
    }
    if (raises) result.sequence ??= { found: newestSequence, written: pool.sequence };
    for (const write of writes) write.markDelivered(result);
  }

  /**
   * Counts rejections. If D1 rejects several rows and accepts none, the rejections have a common cause, and no row
   * becomes a dead letter.
   */
  #count(rejected: Rejection[], attempted: number, result: Delivered): void {
    if (attempted === 1 || rejected.length < attempted) {
      for (const one of rejected) this.#countRejection(one, result);
    } else if (rejected.length > 0) {
      log.error("pool.outbox_rejected", { orgId: this.#ways.machine.orgId, reason: rejected[0]!.reason });
      result.failed = true;
    }
  }

  #countRejection({ write, reason }: Rejection, result: Delivered): void {
    if (this.#rejections.add(write.name) < MAX_REJECTIONS) {
      result.failed = true;
      return;
    }
    this.#ways.machine.storage.deadLetters.add(write.deadLetter, reason);
    write.markDelivered(result);
    this.#rejections.forget(write.name);
  }
}
