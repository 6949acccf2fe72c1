import type { AuditFact, BuildFacts } from "../../src/domain/pool/facts.ts";
import type { Rules } from "../../src/domain/pool/rules.ts";
import { isEnded } from "../../src/protocol/build-states.ts";
import type { SimStorage } from "./storage.ts";
import { must } from "./violation.ts";

export interface Batch {
  builds: BuildFacts[];
  audits: [seq: number, audit: AuditFact][];
}

const BATCH_SIZE = 20;

/** D1 and the archive as the pool writes to them: a batch is atomic, and an older version never replaces a newer one. */
export class SimDatabase {
  readonly builds = new Map<string, { version: number; status: string }>();
  readonly audits = new Set<number>();
  /** The version of each build's record in the archive. */
  readonly records = new Map<string, number>();
  /** Builds of which D1 has a version that the pool lost in a restore. */
  readonly aheadOfPool = new Set<string>();
  /** Builds that were deleted here. */
  readonly erased = new Set<string>();
  #wasRestored = false;

  /** What the pool tells next: it has put the records of ended builds, unless the archive is away. */
  read(storage: SimStorage, dirty: Iterable<string>, rules: Rules, isArchiveAway: boolean): Batch {
    const builds = [...dirty].slice(0, BATCH_SIZE).flatMap((buildId) => {
      const build = storage.rows.builds.get(buildId)!;
      const isRecorded = isEnded(build.status) && !isArchiveAway;
      if (isRecorded) this.records.set(buildId, build.version);
      return rules.mayTell(build, isRecorded) ? [build] : [];
    });
    return { builds, audits: [...storage.rows.audits].slice(0, BATCH_SIZE) };
  }

  write({ builds, audits }: Batch, storage: SimStorage): void {
    for (const { id, version, status } of builds) {
      must(16, !isEnded(status) || this.records.has(id), "D1 heard of an end without a record");
      if ((this.builds.get(id)?.version ?? -1) < version) this.builds.set(id, { version, status });
      const known = storage.rows.builds.get(id);
      if (!known) continue;
      if (known.version >= this.builds.get(id)!.version) this.aheadOfPool.delete(id);
      else if (this.#wasRestored) this.aheadOfPool.add(id);
      else must(16, false, "D1 is newer than the pool");
    }
    for (const [seq] of audits) this.audits.add(seq);
  }

  /** Notes the builds that D1 knows in a newer version than the restored pool, until the pool overtakes it. */
  poolWasRestored(storage: SimStorage): void {
    this.#wasRestored = true;
    for (const [buildId, { version }] of this.builds) {
      if (version > (storage.rows.builds.get(buildId)?.version ?? -1)) this.aheadOfPool.add(buildId);
    }
  }

  /** Takes a deleted build out. */
  erase(buildId: string): void {
    this.builds.delete(buildId);
    this.records.delete(buildId);
    this.erased.add(buildId);
  }

  /** Once every build has ended and the outbox is empty, D1 and the pool must be equal. */
  compare(storage: SimStorage): void {
    for (const [buildId, { version, status }] of storage.rows.builds) {
      const known = this.builds.get(buildId);
      if (this.aheadOfPool.has(buildId) || (this.#wasRestored && this.erased.has(buildId))) continue;
      must(16, known?.version === version && known.status === status, `D1 says ${known?.status}, the pool ${status}`);
    }
    for (const [buildId, { deletion }] of storage.rows.deletions) {
      must(18, deletion.deleted === "log" || !this.builds.has(buildId), "D1 has a build that was deleted");
    }
    must(16, storage.rows.audits.size === 0, "the outbox still has entries");
    must(16, storage.rows.closes.size === 0, "a log was not closed");
  }
}
