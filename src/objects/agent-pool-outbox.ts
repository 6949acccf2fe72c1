import { isReachable, projectAudit, projectBuild } from "../db/projection.ts";
import type { FlushResult } from "../domain/pool/outbox.ts";
import { toBuild } from "../domain/pool/record.ts";
import type { PoolStorage } from "./agent-pool-storage.ts";
import type { OutboxEntry } from "./agent-pool-tables.ts";

/** Rows of one batch to D1. */
const BATCH_SIZE = 100;
/** Rejections by D1 after which a row becomes a dead letter. */
const MAX_REJECTIONS = 5;
/** Errors of D1 that mean the row itself is wrong, and not that D1 has a problem. */
const INVALID_ROW = /constraint|too big|too large/i;

/** One row on its way to D1. */
interface PendingWrite {
  name: string;
  statement: D1PreparedStatement;
  markDelivered(result: FlushResult): void;
  addDeadLetter(reason: string): void;
}

/** Delivers committed changes to D1, and closes logs. Every write may be repeated. */
export class Outbox {
  readonly #db: D1Database;
  readonly #storage: PoolStorage;
  readonly #closeLog: (buildId: string, fence: number) => Promise<void>;
  readonly #rejections = new Map<string, number>();

  constructor(db: D1Database, storage: PoolStorage, closeLog: (buildId: string, fence: number) => Promise<void>) {
    this.#db = db;
    this.#storage = storage;
    this.#closeLog = closeLog;
  }

  /** One attempt with the oldest entries and builds. @returns what was delivered */
  async deliver(orgId: string, dirty: ReadonlySet<string>): Promise<FlushResult> {
    const entries = this.#storage.outboxEntries(BATCH_SIZE);
    const result: FlushResult = { builds: [], entries: [], failed: false };
    const closing = entries.map(({ seq, entry }) => this.#closeEntry(seq, entry, result));
    const writes = [
      ...this.#buildWrites(orgId, dirty),
      ...entries.flatMap(({ seq, entry }) => this.#auditWrites(orgId, seq, entry)),
    ];
    if (!(await this.#send(writes, result))) result.failed = true;
    await Promise.all(closing);
    return result;
  }

  #buildWrites(orgId: string, dirty: ReadonlySet<string>): PendingWrite[] {
    return this.#storage.buildRecords([...dirty].slice(0, BATCH_SIZE)).map(({ build, job, report }) => {
      const { id: buildId, version } = build;
      return {
        name: buildId,
        statement: projectBuild(this.#db, { record: toBuild(orgId, build, job, report), version }),
        markDelivered: (result) => result.builds.push({ buildId, version }),
        addDeadLetter: (reason) => this.#storage.addDeadLetter(`build ${buildId} version ${version}`, reason),
      };
    });
  }

  #auditWrites(orgId: string, seq: number, outboxEntry: OutboxEntry): PendingWrite[] {
    if (outboxEntry.kind !== "audit") return [];
    const { id, entry } = outboxEntry;
    const at = new Date(entry.at).toISOString();
    return [
      {
        name: id,
        statement: projectAudit(this.#db, { ...entry, id, orgId, at }),
        markDelivered: (result) => result.entries.push(seq),
        addDeadLetter: (reason) => this.#storage.addDeadLetter(JSON.stringify(outboxEntry), reason),
      },
    ];
  }

  async #closeEntry(seq: number, outboxEntry: OutboxEntry, result: FlushResult): Promise<void> {
    if (outboxEntry.kind !== "close") return;
    try {
      await this.#closeLog(outboxEntry.buildId, outboxEntry.fence);
      result.entries.push(seq);
    } catch (error) {
      result.failed = true;
      console.error("pool: a log could not be closed; the next attempt will try again", outboxEntry.buildId, error);
    }
  }

  /** Sends a batch. When it fails, halves it until the invalid row is alone. @returns false if D1 does not answer */
  async #send(writes: PendingWrite[], result: FlushResult): Promise<boolean> {
    if (writes.length === 0) return true;
    try {
      await this.#db.batch(writes.map(({ statement }) => statement));
    } catch (error) {
      if (!(await isReachable(this.#db))) return false;
      const middle = writes.length >> 1;
      if (middle > 0) {
        return (await this.#send(writes.slice(0, middle), result)) && this.#send(writes.slice(middle), result);
      }
      this.#countRejection(writes[0]!, error, result);
      return true;
    }
    for (const write of writes) write.markDelivered(result);
    return true;
  }

  #countRejection(write: PendingWrite, error: unknown, result: FlushResult): void {
    const reason = error instanceof Error ? error.message : "unknown";
    const count = (this.#rejections.get(write.name) ?? 0) + 1;
    this.#rejections.set(write.name, count);
    if (count < MAX_REJECTIONS || !INVALID_ROW.test(reason)) {
      result.failed = true;
      return;
    }
    console.error("pool: D1 rejects a row, which becomes a dead letter", write.name, reason);
    write.addDeadLetter(reason);
    write.markDelivered(result);
    this.#rejections.delete(write.name);
  }
}
