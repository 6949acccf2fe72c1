import { answers, projectAudit, projectBuild } from "../db/projection.ts";
import type { Flushed } from "../domain/pool/outbox.ts";
import { toBuild } from "../domain/pool/record.ts";
import type { PoolStorage } from "./agent-pool-storage.ts";
import type { Letter } from "./agent-pool-tables.ts";

/** Rows that go to D1 in one batch. */
const AT_ONCE = 100;
/** Flusheds after which a row that breaks a rule of D1's is set aside. */
const ATTEMPTS = 5;
/** What D1 says of a row that it will never take, as opposed to trouble of its own. */
const ROW_AT_FAULT = /constraint|too big|too large/i;

/** One row on its way to D1. */
interface Parcel {
  name: string;
  statement: D1PreparedStatement;
  arrived(done: Flushed): void;
  park(reason: string): void;
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

  /** One attempt with the oldest of what waits; says what arrived. */
  async attempt(orgId: string, dirty: ReadonlySet<string>): Promise<Flushed> {
    const letters = this.#storage.letters(AT_ONCE);
    const done: Flushed = { builds: [], letters: [], failed: false };
    const closing = letters.map(({ seq, letter }) => this.#close(seq, letter, done));
    const parcels = [
      ...this.#builds(orgId, dirty),
      ...letters.flatMap(({ seq, letter }) => this.#audit(orgId, seq, letter)),
    ];
    if (!(await this.#send(parcels, done))) done.failed = true;
    await Promise.all(closing);
    return done;
  }

  #builds(orgId: string, dirty: ReadonlySet<string>): Parcel[] {
    return this.#storage.recordsOf([...dirty].slice(0, AT_ONCE)).map(({ build, job, report }) => {
      const { id: buildId, version } = build;
      return {
        name: buildId,
        statement: projectBuild(this.#db, { record: toBuild(orgId, build, job, report), version }),
        arrived: (done) => done.builds.push({ buildId, version }),
        park: (reason) => this.#storage.park(`build ${buildId} version ${version}`, reason),
      };
    });
  }

  #audit(orgId: string, seq: number, letter: Letter): Parcel[] {
    if (letter.kind !== "audit") return [];
    const { id, entry } = letter;
    const at = new Date(entry.at).toISOString();
    return [
      {
        name: id,
        statement: projectAudit(this.#db, { ...entry, id, orgId, at }),
        arrived: (done) => done.letters.push(seq),
        park: (reason) => this.#storage.park(JSON.stringify(letter), reason),
      },
    ];
  }

  async #close(seq: number, letter: Letter, done: Flushed): Promise<void> {
    if (letter.kind !== "close") return;
    try {
      await this.#closeLog(letter.buildId, letter.fence);
      done.letters.push(seq);
    } catch (error) {
      done.failed = true;
      console.error("pool: a log could not be closed and will be tried again", letter.buildId, error);
    }
  }

  /** Sends all in one batch; where that fails, halves it until the row at fault stands alone. False: D1 is away. */
  async #send(parcels: Parcel[], done: Flushed): Promise<boolean> {
    if (parcels.length === 0) return true;
    try {
      await this.#db.batch(parcels.map(({ statement }) => statement));
    } catch (error) {
      if (!(await answers(this.#db))) return false;
      const middle = parcels.length >> 1;
      if (middle > 0)
        return (await this.#send(parcels.slice(0, middle), done)) && this.#send(parcels.slice(middle), done);
      this.#refuse(parcels[0]!, error, done);
      return true;
    }
    for (const parcel of parcels) parcel.arrived(done);
    return true;
  }

  #refuse(parcel: Parcel, error: unknown, done: Flushed): void {
    const reason = error instanceof Error ? error.message : "unknown";
    const times = (this.#refused.get(parcel.name) ?? 0) + 1;
    this.#refused.set(parcel.name, times);
    if (times < ATTEMPTS || !ROW_AT_FAULT.test(reason)) {
      done.failed = true;
      return;
    }
    console.error("pool: D1 refuses a row, which is set aside", parcel.name, reason);
    parcel.park(reason);
    parcel.arrived(done);
    this.#refused.delete(parcel.name);
  }
}
