import { DurableObject } from "cloudflare:workers";
import type { DeliveryNote } from "../domain/githost/delivery-note.ts";
import type { HostReport } from "../domain/githost/host-report.ts";
import { LIMITS } from "../protocol/limits.ts";

const TABLES = `
CREATE TABLE IF NOT EXISTS told (repo INTEGER, sha TEXT, context TEXT, build TEXT NOT NULL, number INTEGER NOT NULL,
  version INTEGER NOT NULL, facts TEXT NOT NULL, PRIMARY KEY (repo, sha, context)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS delivery (seq INTEGER PRIMARY KEY, id TEXT NOT NULL, facts TEXT NOT NULL);
`;

/** What one connection was told and has told its git host: one object for each connection. */
export class GitHost extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.storage.sql.exec(TABLES);
  }

  /** Keeps what the host has to be told. May be repeated, in any order: the newest of a build counts. */
  async report(reports: HostReport[]): Promise<void> {
    for (const report of reports) {
      const { repoId, sha, context, buildId, number, version } = report;
      this.ctx.storage.sql.exec(
        `INSERT INTO told VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET build = excluded.build,
          number = excluded.number, version = excluded.version, facts = excluded.facts
          WHERE (told.number, told.version) < (excluded.number, excluded.version)`,
        ...[repoId, sha, context, buildId, number, version, JSON.stringify(report)],
      );
    }
  }

  /** Remembers a delivery and what came of it. */
  async noteDelivery(note: DeliveryNote): Promise<void> {
    const { sql } = this.ctx.storage;
    sql.exec("INSERT INTO delivery (id, facts) VALUES (?, ?)", note.id, JSON.stringify(note));
    sql.exec("DELETE FROM delivery WHERE seq <= (SELECT max(seq) FROM delivery) - ?", LIMITS.deliveries);
  }

  /** The last deliveries, the newest first. */
  async deliveries(limit: number): Promise<DeliveryNote[]> {
    const rows = this.ctx.storage.sql.exec("SELECT facts FROM delivery ORDER BY seq DESC LIMIT ?", limit);
    return [...rows].map(({ facts }) => JSON.parse(String(facts)));
  }

  /** Deletes everything that this object holds. */
  async destroy(): Promise<void> {
    await this.ctx.storage.deleteAll();
  }
}
