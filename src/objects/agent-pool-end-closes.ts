import type { BuildFacts } from "../domain/pool/facts.ts";
import type { LogOutboxEntry } from "./agent-pool-tables.ts";

/** A log to close. Its number is negative where no row of the outbox says so. */
export interface PendingClose {
  seq: number;
  entry: LogOutboxEntry;
}

/**
 * Logs of ended builds that are not closed yet. While D1 was not told of the end, the row of the build itself says that
 * its log has to be closed, again where it was: so the outbox needs no row of its own.
 */
export class EndCloses {
  readonly #pending = new Map<string, PendingClose>();

  add({ seq, id }: BuildFacts, entry: LogOutboxEntry): void {
    this.#pending.set(id, { seq: -seq, entry });
  }

  /** Takes up a build that ended before the object was loaded. */
  addLoaded(build: BuildFacts, fence: number, now: number): void {
    const at = build.finishedAt ?? now;
    if (fence > 0) this.add(build, { jobId: build.id, fence, at, endedAt: at });
  }

  /** D1 was told of the end. @returns the entry that needs a row from now on, where the log is still not closed */
  told(buildId: string): LogOutboxEntry | undefined {
    const entry = this.#pending.get(buildId)?.entry;
    this.#pending.delete(buildId);
    return entry;
  }

  done(seqs: readonly number[]): void {
    for (const [buildId, { seq }] of this.#pending) if (seqs.includes(seq)) this.#pending.delete(buildId);
  }

  get all(): PendingClose[] {
    return [...this.#pending.values()];
  }
}
