import { deleteArtifacts } from "../archive/artifacts.ts";
import { dayOf } from "../archive/keys.ts";
import { deleteLogs } from "../archive/logs.ts";
import { deleteRecord } from "../archive/records.ts";
import { deleteTests } from "../archive/tests.ts";
import { eraseBuild, forgetFailedLine } from "../db/projection.ts";
import { type DeletionResult, mayCarryOut } from "../domain/pool/delete.ts";
import type { Deletion } from "../domain/pool/facts.ts";
import type { PoolState } from "../domain/pool/state.ts";
import { isSealed } from "../domain/pool/stored-bytes.ts";
import type { DeletionRows } from "./agent-pool-deletion-rows.ts";
import type { StoredBytes } from "./agent-pool-stored-bytes.ts";

/** Deletions that one attempt carries out at most. */
const BATCH_SIZE = 50;
/** Carries out deletions: in the log, in the archive, then in D1. Each may be repeated, and holds up no other. */
export class Deletions {
  readonly #db: D1Database;
  readonly #archive: R2Bucket;
  readonly #rows: DeletionRows;
  readonly #stored: StoredBytes;
  readonly #removeLog: (jobId: string) => Promise<void>;

  constructor(
    db: D1Database,
    archive: R2Bucket,
    { deletions, stored }: { deletions: DeletionRows; stored: StoredBytes },
    removeLog: (jobId: string) => Promise<void>,
  ) {
    this.#db = db;
    this.#archive = archive;
    this.#rows = deletions;
    this.#stored = stored;
    this.#removeLog = removeLog;
  }

  /** One attempt with the oldest. @returns which are done */
  async deliver(orgId: string, state: Readonly<PoolState>): Promise<DeletionResult> {
    const pending = this.#rows.pending(BATCH_SIZE);
    const told = pending.filter((deletion) => mayCarryOut(state, deletion));
    const result: DeletionResult = { done: [], failed: told.length < pending.length };
    await Promise.all(told.map((deletion) => this.#deliverOne(orgId, deletion, result)));
    return result;
  }

  async #deliverOne(orgId: string, deletion: Deletion, result: DeletionResult): Promise<void> {
    const { buildId } = deletion;
    try {
      await this.#erase(orgId, deletion);
      result.done.push(deletion);
    } catch (error) {
      result.failed = true;
      console.error("pool: a deletion could not be carried out; the next attempt will try again", buildId, error);
    }
  }

  async #erase(orgId: string, deletion: Deletion): Promise<void> {
    const { buildId, deleted, finishedAt, jobs = [], artifacts = [], tests = [] } = deletion;
    for (const log of [{ id: buildId, finishedAt }, ...jobs]) {
      await this.#removeLog(log.id);
      await deleteLogs(this.#archive, { day: dayOf(log.finishedAt), orgId, jobId: log.id });
    }
    if (deleted === "log") {
      await forgetFailedLine(this.#db, orgId, buildId).run();
      return;
    }
    const isOver = isSealed(finishedAt, Date.now());
    for (const { jobId, day } of artifacts) {
      const bytes = await deleteArtifacts(this.#archive, { jobId, day, orgId });
      if (isOver) this.#stored.free(`${jobId} ${day}`, day, bytes);
    }
    for (const place of tests) await deleteTests(this.#archive, { ...place, orgId });
    await deleteRecord(this.#archive, { orgId, id: buildId, finishedAt: new Date(finishedAt).toISOString() });
    const jobIds = jobs.map(({ id }) => id);
    await this.#db.batch(eraseBuild(this.#db, orgId, buildId, jobIds));
  }
}
