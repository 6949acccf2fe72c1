import { type Counts, nothing, type Tally } from "./counts.ts";

export const counts: Counts = nothing();

/** Simulates an outage of D1. */
export const outage = { isAway: false };

const checkDatabase = (): void => {
  if (outage.isAway) throw new Error("D1_ERROR: D1 DB is overloaded. Requests queued for too long.");
};

/** Returns the table that a statement writes. */
const tableOf = (sql: string): string =>
  /\b(?:INTO|UPDATE(?: OR \w+)?|DELETE FROM|TABLE(?: IF NOT EXISTS)?)\s+["`]?(\w+)/i.exec(sql)?.[1] ?? "?";

export const add = (tally: Tally, name: string, count = 1): void => {
  tally[name] = (tally[name] ?? 0) + count;
};

export const addRows = (tally: Tally, sql: string, rows: number, prefix = ""): void => {
  if (rows === 0) return;
  const name = /^\s*CREATE/i.test(sql) ? "tables" : tableOf(sql);
  add(tally, prefix + name, rows);
};

const bound = (target: object, name: string | symbol): unknown => {
  const found: unknown = Reflect.get(target, name);
  return typeof found === "function" ? found.bind(target) : found;
};

/** The SQL, keyed by the statement that `prepare` or `bind` returned. */
const words = new WeakMap<D1PreparedStatement, string>();

const countRows = (sql: string, meta: D1Meta): void => {
  counts.d1RowsRead += meta.rows_read;
  addRows(counts.d1RowsWritten, sql, meta.rows_written);
};

/** Wraps a statement: remembers its SQL through `bind`, and counts when it runs alone. */
const countedStatement = (statement: D1PreparedStatement, sql: string): D1PreparedStatement => {
  words.set(statement, sql);
  const bind = statement.bind.bind(statement);
  const all = statement.all.bind(statement);
  const alone = async () => {
    checkDatabase();
    counts.d1Rounds += 1;
    const result = await all();
    countRows(sql, result.meta);
    return result;
  };
  return Object.assign(statement, {
    bind: (...values: unknown[]) => countedStatement(bind(...values), sql),
    run: alone,
    all: alone,
    first: async (column?: string) => {
      const [row] = (await alone()).results as Record<string, unknown>[];
      return column === undefined ? (row ?? null) : (row?.[column] ?? null);
    },
  }) as D1PreparedStatement;
};

export const countedDatabase = <D extends D1Database | D1DatabaseSession>(db: D): D =>
  new Proxy(db, {
    get(target, name) {
      if (name === "withSession")
        return (bookmark: string) => countedDatabase((target as D1Database).withSession(bookmark));
      if (name === "prepare")
        return (sql: string) => {
          counts.d1Statements += 1;
          return countedStatement(target.prepare(sql), sql);
        };
      if (name !== "batch") return bound(target, name);
      return async (statements: D1PreparedStatement[]) => {
        checkDatabase();
        counts.d1Rounds += 1;
        const results = await target.batch(statements);
        results.forEach(({ meta }, index) => {
          countRows(words.get(statements[index]!) ?? "?", meta);
        });
        return results;
      };
    },
  });

/** Counts each call to an object's method, and each socket to it: Cloudflare bills both as requests. */
export const countedObjects = <N extends DurableObjectNamespace>(objects: N, kind: string): N =>
  new Proxy(objects, {
    get(target, name) {
      if (name !== "getByName" && name !== "get") return bound(target, name);
      return (...given: [never]) =>
        new Proxy(target[name](...given), {
          get(stub, method) {
            if (typeof Reflect.get(stub, method) !== "function") return undefined;
            const callable = stub as unknown as Record<string | symbol, (...words: unknown[]) => unknown>;
            return (...words: unknown[]) => {
              add(counts.objectCalls, `${kind} ${method === "call" ? words[1] : String(method)}`);
              return callable[method]!(...words);
            };
          },
        });
    },
  });

const sizeOf = (body: unknown): number => {
  if (typeof body === "string") return new TextEncoder().encode(body).length;
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return body.byteLength;
  return body instanceof Blob ? body.size : 0;
};

/** Counts each part and the end, which Cloudflare bills as writes. The sender knows a part's length. */
const countedUpload = (upload: R2MultipartUpload): R2MultipartUpload =>
  new Proxy(upload, {
    get(target, name) {
      if (name === "uploadPart" || name === "complete") counts.archiveWrites += 1;
      return bound(target, name);
    },
  });

export const countedArchive = (archive: R2Bucket): R2Bucket =>
  new Proxy(archive, {
    get(target, name) {
      const method = bound(target, name);
      if (typeof method !== "function") return method;
      if (name === "resumeMultipartUpload") return (...given: unknown[]) => countedUpload(method(...given));
      return async (...given: unknown[]) => {
        if (name === "put" || name === "list" || name === "createMultipartUpload") counts.archiveWrites += 1;
        if (name === "get" || name === "head") counts.archiveReads += 1;
        const result: unknown = await method(...given);
        if (name === "put") counts.archiveBytes += sizeOf(given[1]) || ((result as R2Object | null)?.size ?? 0);
        return result;
      };
    },
  });

/** Counts the lines that the service logs. */
export const countLines = (): void => {
  for (const level of ["debug", "log", "info", "warn", "error"] as const) {
    const write = console[level].bind(console);
    console[level] = (...given: unknown[]) => {
      counts.lines += 1;
      write(...given);
    };
  }
};
