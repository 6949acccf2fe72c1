/** One statement as it was sent to D1. */
export interface Statement {
  sql: string;
  values: unknown[];
}

/** Wraps the database to add every statement of a batch to `statements`. If that throws, the batch fails. */
export const recordStatements = (db: D1Database, statements: Pick<Statement[], "push">): D1Database => {
  const sent = new WeakMap<D1PreparedStatement, Statement>();
  const noted = (statement: D1PreparedStatement, sql: string, values: unknown[]): D1PreparedStatement => {
    const watched = new Proxy(statement, {
      get(target, name) {
        if (name === "bind") return (...bound: unknown[]) => noted(target.bind(...bound), sql, bound);
        if (name === REAL) return target;
        const member = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    sent.set(watched, { sql, values });
    return watched;
  };
  const watch = <T extends D1Database | D1DatabaseSession>(real: T): T =>
    new Proxy(real, {
      get(target, name) {
        if (name === "prepare") return (sql: string) => noted(target.prepare(sql), sql, []);
        if (name === "withSession")
          return (constraint: string) => watch((target as D1Database).withSession(constraint));
        if (name === "batch") {
          return (batch: D1PreparedStatement[]) => {
            for (const statement of batch) statements.push(sent.get(statement) ?? { sql: "", values: [] });
            return target.batch(batch.map((statement) => (statement as unknown as { [REAL]: never })[REAL]));
          };
        }
        const member = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  return watch(db);
};

const REAL = Symbol("the statement itself");

/** Returns the steps of `EXPLAIN QUERY PLAN` for the statement. */
export const queryPlan = async (db: D1Database, { sql, values }: Statement): Promise<string[]> => {
  const { results } = await db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .bind(...values)
    .all<{ detail: string }>();
  return results.map(({ detail }) => detail);
};
