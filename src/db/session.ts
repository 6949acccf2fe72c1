import { type DrizzleD1Database, drizzle } from "drizzle-orm/d1";
import type { Compiled } from "./compiled.ts";
import { checkMigrations } from "./migrations.ts";
import { type ValidToken, validToken } from "./valid-token.ts";

/** What D1 was asked for one request. */
export interface Tally {
  rounds: number;
  rowsRead: number;
  rowsWritten: number;
}

/** Passes everything on to D1 and counts it. */
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

export type Database = DrizzleD1Database;
type Batch = Parameters<Database["batch"]>[0];
export type Query = Batch[number];
type Answers<Q extends readonly Query[]> = { -readonly [K in keyof Q]: Q[K]["_"]["result"] };

/** Thrown where the caller's token is not, or no longer, a live one. */
export class TokenInvalid extends Error {
  override name = "TokenInvalid";
}

/**
 * The only door to D1, one for each request. With a token's hash, the first batch begins with the check of that token,
 * and nothing of the batch is given out before `admit` has judged it: check and answer are one round trip.
 */
export class DatabaseSession {
  readonly tally: Tally = { rounds: 0, rowsRead: 0, rowsWritten: 0 };
  /** For building queries; they run only in `read` and `write`. */
  readonly sql: Database;
  readonly #db: D1Database;
  readonly #session: D1DatabaseSession;
  readonly #client: D1Database;
  #asked: { queries: readonly Query[]; resolve(answers: unknown[]): void; reject(error: unknown): void }[] = [];
  #unchecked: { hash: string; session: string; now: string; admit: (token: ValidToken) => void } | undefined;

  constructor(db: D1Database, constraint: string) {
    this.#db = db;
    this.#session = db.withSession(constraint);
    this.#client = metered(this.#session, this.tally);
    this.sql = drizzle(this.#client);
  }

  /** A compiled query, filled and ready to run. */
  bind<Q extends Query>(query: Compiled<Q>, values: Record<string, unknown>, shape?: readonly string[]): Q {
    return query(this.#client, values, shape);
  }

  /** From now on the first batch checks the token with this hash, and the session (null: none) it is kept in. */
  checkTokenFirst(hash: string, session: string | null, now: string, admit: (token: ValidToken) => void): void {
    this.#unchecked = { hash, session: session ?? "", now, admit };
  }

  /** How a later request can be made to see at least what this one saw. */
  get bookmark(): string | null {
    return this.#session.getBookmark();
  }

  /**
   * Runs queries all or nothing; what is asked in the same turn goes in one round trip.
   * @throws TokenInvalid, MigrationsMissing, and whatever `admit` throws
   */
  run<const Q extends readonly Query[]>(...queries: Q): Promise<Answers<Q>> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ queries, resolve: resolve as (answers: unknown[]) => void, reject });
      if (this.#asked.length === 1) queueMicrotask(() => this.#ask());
    });
  }

  async #ask(): Promise<void> {
    const asked = this.#asked;
    this.#asked = [];
    try {
      await checkMigrations(this.#db);
      const answers = await this.#batch(asked.flatMap(({ queries }) => queries));
      for (const { queries, resolve } of asked) resolve(answers.splice(0, queries.length));
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }

  async #batch(queries: Query[]): Promise<unknown[]> {
    const unchecked = this.#unchecked;
    if (!unchecked) return queries.length === 0 ? [] : [...(await this.sql.batch(queries as unknown as Batch))];
    const { hash, session, now } = unchecked;
    const live = this.bind(validToken, { hash, session, now });
    const [[token], ...answers] = (await this.sql.batch([live, ...queries])) as [ValidToken[], ...unknown[]];
    if (!token) throw new TokenInvalid();
    unchecked.admit(token);
    this.#unchecked = undefined;
    return answers;
  }
}
