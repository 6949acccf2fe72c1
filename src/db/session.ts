import type { SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { RunnableQuery } from "drizzle-orm/runnable-query";
import { SQLiteAsyncDialect } from "drizzle-orm/sqlite-core";
import journal from "../../migrations/meta/_journal.json" with { type: "json" };
import { oncePer } from "../once-per.ts";
import type { Compiled } from "./compiled.ts";
import type { Batch, Database, Query, Results } from "./query.ts";
import { type ValidToken, validToken } from "./valid-token.ts";

/** The database lacks migrations that the code needs. */
export class MigrationsMissing extends Error {
  override name = "MigrationsMissing";
  readonly missing: string[];
  constructor(missing: string[]) {
    super(`not applied: ${missing.join(", ")}`);
    this.missing = missing;
  }
}

const once = oncePer<true>();

/**
 * Checks once that the database has every migration that this code needs. Without the check, a query for a missing
 * column would succeed and return wrong rows, because SQLite reads a quoted unknown name as a text.
 * @throws MigrationsMissing
 */
export const checkMigrations = async (db: D1Database): Promise<void> => {
  await once(db, () => checkNow(db));
};

const checkNow = async (db: D1Database): Promise<true> => {
  const { results } = await db.prepare("SELECT name FROM d1_migrations").all<{ name: string }>();
  const applied = new Set(results.map(({ name }) => name));
  const missing = journal.entries.map(({ tag }) => `${tag}.sql`).filter((name) => !applied.has(name));
  if (missing.length > 0) throw new MigrationsMissing(missing);
  return true;
};

/** D1's work for one request: round trips, and rows as D1 bills them. */
interface Tally {
  rounds: number;
  rowsRead: number;
  rowsWritten: number;
}

/** Wraps a D1 client to count into `tally`. */
const metered = (session: D1DatabaseSession, tally: Tally): D1Database => {
  const batch = async <T>(statements: D1PreparedStatement[]): Promise<D1Result<T>[]> => {
    tally.rounds += 1;
    const results = await session.batch<T>(statements);
    for (const { meta } of results) {
      tally.rowsRead += meta.rows_read;
      tally.rowsWritten += meta.rows_written;
    }
    return results;
  };
  return { prepare: (query: string) => session.prepare(query), batch } as unknown as D1Database;
};

const DIALECT = new SQLiteAsyncDialect();

/** An SQL query that returns D1's own result. */
type Statement<T> = RunnableQuery<D1Result<T>, "sqlite">;

/** Receives the valid token of the first batch, or undefined without a valid token. May throw. */
type Admit = (token: ValidToken | undefined) => void;

/**
 * A D1 session for one request. Every query of the Worker runs in such a session. After `checkTokenFirst`, the first
 * batch begins with the check of the caller's token and returns its results only if `admit` does not throw. The check
 * therefore costs no extra round trip.
 */
export class DatabaseSession {
  readonly tally: Tally = { rounds: 0, rowsRead: 0, rowsWritten: 0 };
  /** Builds queries. `run` executes them. */
  readonly sql: Database;
  readonly #db: D1Database;
  readonly #session: D1DatabaseSession;
  readonly #client: D1Database;
  #queue: { queries: readonly Query[]; resolve(results: unknown[]): void; reject(error: unknown): void }[] = [];
  #unchecked: { hash: string; session: string; now: string; admit: Admit } | undefined;

  constructor(db: D1Database, constraint: string) {
    this.#db = db;
    this.#session = db.withSession(constraint);
    this.#client = metered(this.#session, this.tally);
    this.sql = drizzle(this.#client);
  }

  /** Binds values to a compiled query. The result is ready for `run`. */
  bind<Q extends Query>(query: Compiled<Q>, values: Record<string, unknown>, shape?: readonly string[]): Q {
    return query(this.#client, values, shape);
  }

  /** Runs a statement that the query builder cannot express. Returns D1's rows unchanged, with D1's metadata. */
  statement<T>(text: SQL): Statement<T> {
    const query = DIALECT.sqlToQuery(text);
    const stmt = this.#client.prepare(query.sql);
    return {
      _prepare: () => ({ stmt, getQuery: () => query, mapResult: (result: D1Result<T>) => result }),
    } as unknown as Statement<T>;
  }

  /** Makes the first batch check the token with this hash and, if it is not null, the browser session. */
  checkTokenFirst(hash: string, session: string | null, now: string, admit: Admit): void {
    this.#unchecked = { hash, session: session ?? "", now, admit };
  }

  /** D1's bookmark. A later session that begins with this bookmark sees at least everything that this session saw. */
  get bookmark(): string | null {
    return this.#session.getBookmark();
  }

  /**
   * Runs queries in one transaction. Calls in the same microtask turn share one round trip and one transaction.
   * @throws MigrationsMissing, and every error of `admit`
   */
  run<const Q extends readonly Query[]>(...queries: Q): Promise<Results<Q>> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ queries, resolve: resolve as (results: unknown[]) => void, reject });
      if (this.#queue.length === 1) queueMicrotask(() => this.#runQueue());
    });
  }

  async #runQueue(): Promise<void> {
    const calls = this.#queue;
    this.#queue = [];
    try {
      await checkMigrations(this.#db);
      const results = await this.#batch(calls.flatMap(({ queries }) => queries));
      for (const { queries, resolve } of calls) resolve(results.splice(0, queries.length));
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  }

  async #batch(queries: Query[]): Promise<unknown[]> {
    const unchecked = this.#unchecked;
    if (!unchecked) return queries.length === 0 ? [] : [...(await this.sql.batch(queries as unknown as Batch))];
    const { hash, session, now, admit } = unchecked;
    const check = this.bind(validToken, { hash, session, now });
    const [[token], ...results] = (await this.sql.batch([check, ...queries])) as [ValidToken[], ...unknown[]];
    admit(token);
    this.#unchecked = undefined;
    return results;
  }
}
