import type { HostReport } from "../domain/githost/host-report.ts";

const HOST_TABLE =
  "CREATE TABLE IF NOT EXISTS host_outbox (build_id TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID";

/**
 * Ended builds of which git hosts have to hear. While D1 was not told of the end, the row of the build itself says so;
 * after that a row of this table does, also when the build itself is forgotten.
 */
export class HostRows {
  readonly #sql: SqlStorage;
  readonly #pending = new Set<string>();
  readonly #stored = new Set<string>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(HOST_TABLE);
  }

  /** Ids of the builds of which rows say that they are still to be told. */
  load(): string[] {
    for (const { id } of this.#sql.exec<{ id: string }>("SELECT build_id AS id FROM host_outbox")) this.#stored.add(id);
    return [...this.#stored];
  }

  /** A build has ended. */
  add(buildId: string): void {
    this.#pending.add(buildId);
  }

  /** D1 was told of the end: the row of the build does not say any more that its git host was not. */
  keep(buildId: string, read: () => HostReport | null): void {
    const report = this.#pending.delete(buildId) ? read() : null;
    if (!report) return;
    this.#sql.exec("INSERT OR REPLACE INTO host_outbox VALUES (?, ?)", buildId, JSON.stringify(report));
    this.#stored.add(buildId);
  }

  /** The git host was told, or has nothing to hear any more. */
  done(buildId: string): void {
    this.#pending.delete(buildId);
    if (this.#stored.delete(buildId)) this.#sql.exec("DELETE FROM host_outbox WHERE build_id = ?", buildId);
  }

  report(buildId: string): HostReport | null {
    const [row] = this.#sql.exec<{ facts: string }>("SELECT facts FROM host_outbox WHERE build_id = ?", buildId);
    return row ? (JSON.parse(row.facts) as HostReport) : null;
  }
}
