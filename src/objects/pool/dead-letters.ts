import { log } from "../../log.ts";
import { parseJobRow, parsePlanRow } from "./job-rows.ts";
import { organizationIn, parseBuildRow, readAgent } from "./rows.ts";
import type { AuditOutboxEntry, LogOutboxEntry } from "./tables.ts";

/** The tables from which the pool sets damaged rows aside, each with the column that names a row. */
const ROWS = {
  agent: { key: "id", read: readAgent },
  build: { key: "seq", read: parseBuildRow },
  plan: { key: "build_id", read: parsePlanRow },
  build_job: { key: "id", read: parseJobRow },
  audit_outbox: { key: "seq", read: JSON.parse },
  log_outbox: { key: "seq", read: JSON.parse },
} as const;

/** An item that D1 or a log rejected, or a row that the pool cannot read. */
export type DeadLetterBody =
  | { kind: "build"; buildId: string; version: number }
  | ({ kind: "audit" } & AuditOutboxEntry)
  | ({ kind: "close" } & LogOutboxEntry)
  | { kind: "row"; table: keyof typeof ROWS; row: Record<string, string | number | null> };

/** One dead letter, for the operator. It names its subject and quotes none of the subject's content. */
export interface ListedDeadLetter {
  seq: number;
  what: string;
  reason: string;
  /** Milliseconds since 1970. */
  at: number | null;
}

/** Items that the pool could not deliver or read, with the reason. They stay until somebody retries them. */
export class DeadLetters {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  add(body: DeadLetterBody, reason: string): void {
    log.error("pool.dead_letter_added", { orgId: organizationIn(this.#sql), what: describeBody(body), reason });
    this.#sql.exec("INSERT INTO parked (what, reason, at) VALUES (?, ?, ?)", JSON.stringify(body), reason, Date.now());
  }

  /** Moves an unreadable row out of its table. */
  setAside(table: keyof typeof ROWS, row: Record<string, string | number | null>, error: unknown): void {
    const { key } = ROWS[table];
    this.add({ kind: "row", table, row }, error instanceof SyntaxError ? "it is not JSON" : String(error));
    this.#sql.exec(`DELETE FROM ${table} WHERE ${key} = ?`, row[key] ?? null);
    const audit = row.audit ?? null;
    this.#sql.exec("INSERT INTO audit_outbox (body) SELECT value FROM json_each(iif(json_valid(?1), ?1, '[]'))", audit);
  }

  count(): number {
    return this.#sql.exec<{ count: number }>("SELECT count(*) AS count FROM parked").one().count;
  }

  list(after: number, limit: number): ListedDeadLetter[] {
    const rows = this.#sql.exec<{ seq: number; what: string; reason: string; at: number | null }>(
      "SELECT seq, what, reason, at FROM parked WHERE seq > ? ORDER BY seq LIMIT ?",
      after,
      limit,
    );
    return [...rows].map((row) => ({ ...row, what: describeBody(parseBody(row.what)) }));
  }

  /** Removes dead letters in order to retry them. Rows that are still unreadable stay. */
  take(seqs: number[]): Exclude<DeadLetterBody, { kind: "row" }>[] {
    const letters = this.#sql.exec<{ seq: number; what: string }>(
      "SELECT seq, what FROM parked WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq",
      JSON.stringify(seqs),
    );
    return [...letters].flatMap(({ seq, what }) => {
      const body = parseBody(what);
      if (body.kind === "row" && !this.#putBack(body)) return [];
      this.#sql.exec("DELETE FROM parked WHERE seq = ?", seq);
      return body.kind === "row" ? [] : [body];
    });
  }

  /** @returns false if the row is still damaged */
  #putBack({ table, row }: DeadLetterBody & { kind: "row" }): boolean {
    try {
      ROWS[table].read(String(row.facts ?? row.body));
    } catch {
      return false;
    }
    const columns = Object.keys(row);
    const values = columns.map(() => "?").join(", ");
    this.#sql.exec(`INSERT OR IGNORE INTO ${table} (${columns.join(", ")}) VALUES (${values})`, ...Object.values(row));
    return true;
  }
}

const parseBody = (what: string): DeadLetterBody => JSON.parse(what) as DeadLetterBody;

const describeBody = (body: DeadLetterBody): string => {
  switch (body.kind) {
    case "build":
      return `build ${body.buildId}, version ${body.version}`;
    case "audit":
      return `audit ${body.entry.action} of ${body.entry.subject}`;
    case "close":
      return `the log of job ${body.jobId}`;
    case "row":
      return `a row of ${body.table}: ${body.row[ROWS[body.table].key]}`;
  }
};

type Row = Record<string, string | null>;
/** A table of items that the pool still has to deliver. */
type OutboxTable = "audit_outbox" | "log_outbox";

/** Reads the pool's rows. */
export class ReadableRows {
  readonly #sql: SqlStorage;
  readonly #deadLetters: Pick<DeadLetters, "setAside">;

  constructor(sql: SqlStorage, deadLetters: Pick<DeadLetters, "setAside">) {
    this.#sql = sql;
    this.#deadLetters = deadLetters;
  }

  all(query: string, ...bindings: unknown[]): Row[] {
    return this.#sql.exec<Row>(query, ...bindings).toArray();
  }

  /** Reads each row by itself, and sets unreadable rows aside, so that the rest of the pool continues. */
  each(
    table: "agent" | "build" | "plan" | "build_job" | OutboxTable,
    query: string,
    read: (row: Row) => void,
    ...bindings: unknown[]
  ): void {
    const damaged: [row: Row, error: unknown][] = [];
    for (const row of this.#sql.exec<Row>(query, ...bindings)) {
      try {
        read(row);
      } catch (error) {
        damaged.push([row, error]);
      }
    }
    for (const [row, error] of damaged) this.#deadLetters.setAside(table, row, error);
  }

  /** Returns the oldest entries of a queue. */
  queued<T>(queue: OutboxTable, limit: number): { seq: number; entry: T }[] {
    const entries: { seq: number; entry: T }[] = [];
    const query = `SELECT seq, body FROM ${queue} ORDER BY seq LIMIT ?`;
    this.each(queue, query, ({ seq, body }) => entries.push({ seq: Number(seq), entry: JSON.parse(body!) }), limit);
    return entries;
  }
}
