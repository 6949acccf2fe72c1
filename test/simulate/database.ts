import type { AuditFact } from "../../src/domain/pool/facts.ts";
import type { SimStorage } from "./storage.ts";
import { must } from "./violation.ts";

export interface Batch {
  builds: { buildId: string; version: number; status: string }[];
  entries: { seq: number; audit: AuditFact | null }[];
}

const BATCH_SIZE = 20;

/** D1 as the pool writes to it: a batch is atomic, and an older version never replaces a newer one. */
export class SimDatabase {
  readonly builds = new Map<string, { version: number; status: string }>();
  readonly audits = new Set<number>();
  /** Builds of which D1 has a version that the pool lost in a restore. */
  readonly aheadOfPool = new Set<string>();
  #wasRestored = false;

  read(storage: SimStorage, dirty: ReadonlySet<string>): Batch {
    const builds = [...dirty].slice(0, BATCH_SIZE).map((buildId) => {
      const { version, status } = storage.rows.builds.get(buildId)!;
      return { buildId, version, status };
    });
    const entries = [...storage.rows.entries].slice(0, BATCH_SIZE).map(([seq, { audit }]) => ({ seq, audit }));
    return { builds, entries };
  }

  write({ builds, entries }: Batch, storage: SimStorage): void {
    for (const { buildId, version, status } of builds) {
      if ((this.builds.get(buildId)?.version ?? -1) < version) this.builds.set(buildId, { version, status });
      const known = storage.rows.builds.get(buildId);
      if (!known) continue;
      if (known.version >= this.builds.get(buildId)!.version) this.aheadOfPool.delete(buildId);
      else if (this.#wasRestored) this.aheadOfPool.add(buildId);
      else must(16, false, "D1 is newer than the pool");
    }
    for (const { seq, audit } of entries) if (audit) this.audits.add(seq);
  }

  /** Notes the builds that D1 knows in a newer version than the restored pool, until the pool overtakes it. */
  poolWasRestored(storage: SimStorage): void {
    this.#wasRestored = true;
    for (const [buildId, { version }] of this.builds) {
      if (version > (storage.rows.builds.get(buildId)?.version ?? -1)) this.aheadOfPool.add(buildId);
    }
  }

  /** Once the outbox is empty, D1 and the pool must be equal. */
  compare(storage: SimStorage): void {
    for (const [buildId, { version, status }] of storage.rows.builds) {
      const known = this.builds.get(buildId);
      if (this.aheadOfPool.has(buildId)) continue;
      must(16, known?.version === version && known.status === status, `D1 says ${known?.status}, the pool ${status}`);
    }
    must(16, storage.rows.entries.size === 0, "the outbox still has entries");
  }
}
