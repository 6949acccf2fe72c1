import { isReachable, projectAudit, projectBuild } from "../db/projection.ts";
import type { FlushResult } from "../domain/pool/outbox.ts";
import { toBuild } from "../domain/pool/record.ts";
import type { PoolStorage } from "./agent-pool-storage.ts";
import type { OutboxEntry } from "./agent-pool-tables.ts";

/** Rows that go to D1 in one batch. */
const AT_ONCE = 100;
/** Attempts after which a row that breaks a rule of D1's is set aside. */
const ATTEMPTS = 5;
/** What D1 says of a row that it will never take, as opposed to trouble of its own. */
const ROW_AT_FAULT = /constraint|too big|too large/i;

/** One row on its way to D1. */
interface PendingWrite {
  name: string;
  statement: D1PreparedStatement;
  delivered(done: FlushResult): void;
  giveUp(reason: string): void;
}

/** Carries to D1, and to the logs, what the pool committed and they do not know yet. Every write may be repeated. */
export class Outbox {
  readonly #db: D1Database;
  readonly #storage: PoolStorage;
  readonly #closeLog: (buildId: string, fence: number) => Promise<void>;
  readonly #refused = new Map<string, number>();

  constructor(db: D1Database, storage: PoolStorage, closeLog: (buildId: string, fence: number) => Promise<void>) {
    this.#db = db;
    this.#storage = storage;
    this.#closeLog = closeLog;
  }

  /** One attempt with the oldest of what waits; says what was delivered. */
  async attempt(orgId: string, dirty: ReadonlySet<string>): Promise<FlushResult> {
    const entries = this.#storage.outboxEntries(AT_ONCE);
    const done: FlushResult = { builds: [], entries: [], failed: false };
    const closing = entries.map(({ seq, entry }) => this.#close(seq, entry, done));
    const writes = [
      ...this.#builds(orgId, dirty),
      ...entries.flatMap(({ seq, entry }) => this.#audit(orgId, seq, entry)),
    ];
    if (!(await this.#send(writes, done))) done.failed = true;
    await Promise.all(closing);
    return done;
  }

  #builds(orgId: string, dirty: ReadonlySet<string>): PendingWrite[] {
    return this.#storage.recordsOf([...dirty].slice(0, AT_ONCE)).map(({ build, job, report }) => {
      const { id: buildId, version } = build;
      return {
        name: buildId,
        statement: projectBuild(this.#db, { record: toBuild(orgId, build, job, report), version }),
        delivered: (done) => done.builds.push({ buildId, version }),
        giveUp: (reason) => this.#storage.addDeadLetter(`build ${buildId} version ${version}`, reason),
      };
    });
  }

  #audit(orgId: string, seq: number, outboxEntry: OutboxEntry): PendingWrite[] {
    if (outboxEntry.kind !== "audit") return [];
    const { id, entry } = outboxEntry;
    const at = new Date(entry.at).toISOString();
    return [
      {
        name: id,
        statement: projectAudit(this.#db, { ...entry, id, orgId, at }),
        delivered: (done) => done.entries.push(seq),
        giveUp: (reason) => this.#storage.addDeadLetter(JSON.stringify(outboxEntry), reason),
      },
    ];
  }

  async #close(seq: number, outboxEntry: OutboxEntry, done: FlushResult): Promise<void> {
    if (outboxEntry.kind !== "close") return;
    try {
      await this.#closeLog(outboxEntry.buildId, outboxEntry.fence);
      done.entries.push(seq);
    } catch (error) {
      done.failed = true;
      console.error("pool: a log could not be closed and will be tried again", outboxEntry.buildId, error);
    }
  }

  /** Sends all in one batch; where that fails, halves it until the row at fault stands alone. False: D1 is away. */
  async #send(writes: PendingWrite[], done: FlushResult): Promise<boolean> {
    if (writes.length === 0) return true;
    try {
      await this.#db.batch(writes.map(({ statement }) => statement));
    } catch (error) {
      if (!(await isReachable(this.#db))) return false;
      const middle = writes.length >> 1;
      if (middle > 0)
        return (await this.#send(writes.slice(0, middle), done)) && this.#send(writes.slice(middle), done);
      this.#refuse(writes[0]!, error, done);
      return true;
    }
    for (const write of writes) write.delivered(done);
    return true;
  }

  #refuse(write: PendingWrite, error: unknown, done: FlushResult): void {
    const reason = error instanceof Error ? error.message : "unknown";
    const times = (this.#refused.get(write.name) ?? 0) + 1;
    this.#refused.set(write.name, times);
    if (times < ATTEMPTS || !ROW_AT_FAULT.test(reason)) {
      done.failed = true;
      return;
    }
    console.error("pool: D1 refuses a row, which is set aside", write.name, reason);
    write.giveUp(reason);
    write.delivered(done);
    this.#refused.delete(write.name);
  }
}
