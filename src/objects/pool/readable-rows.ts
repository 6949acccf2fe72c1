import type { DeadLetters } from "./dead-letters.ts";

type Row = Record<string, string | null>;
/** A table of what is still to be delivered. */
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

  /** Reads each row by itself, and sets aside those that cannot be read: the rest of the pool goes on. */
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

  /** The oldest entries of a queue. */
  queued<T>(queue: OutboxTable, limit: number): { seq: number; entry: T }[] {
    const found: { seq: number; entry: T }[] = [];
    const query = `SELECT seq, body FROM ${queue} ORDER BY seq LIMIT ?`;
    this.each(queue, query, ({ seq, body }) => found.push({ seq: Number(seq), entry: JSON.parse(body!) }), limit);
    return found;
  }
}
