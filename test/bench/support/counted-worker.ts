import { poolName } from "../../../src/domain/object-names.ts";
import type { NewBuild } from "../../../src/domain/pool/commands.ts";
import worker, { BuildLog as Log, AgentPool as Pool } from "../../../src/worker.ts";
import { type Counts, NOTHING } from "./counts.ts";

/**
 * The deployed Worker with a counter for everything that Cloudflare bills. `/counts` returns the counters, `/clock`
 * moves its clock forward, and `/enqueue` calls the pool directly.
 */

const counts: Counts = { ...NOTHING };

/** An alarm sets itself again before its work and after it. */
const ROWS_OF_AN_ALARM = 2;

let ahead = 0;
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...given: unknown[]) {
    super(...((given.length > 0 ? given : [RealDate.now() + ahead]) as [number]));
  }
  static override now(): number {
    return RealDate.now() + ahead;
  }
} as DateConstructor;

const countedBatch = <D extends D1Database | D1DatabaseSession>(db: D): D =>
  new Proxy(db, {
    get(target, name) {
      if (name === "withSession")
        return (bookmark: string) => countedBatch((target as D1Database).withSession(bookmark));
      if (name === "prepare") counts.d1Statements += 1;
      if (name !== "batch") return bound(target, name);
      return async (statements: D1PreparedStatement[]) => {
        counts.d1Rounds += 1;
        const results = await target.batch(statements);
        for (const { meta } of results) {
          counts.d1RowsRead += meta.rows_read;
          counts.d1RowsWritten += meta.rows_written;
        }
        return results;
      };
    },
  });

const bound = (target: object, name: string | symbol): unknown => {
  const found: unknown = Reflect.get(target, name);
  return typeof found === "function" ? found.bind(target) : found;
};

/** Cloudflare bills each call of an object's method, and each socket to it, as a request. */
const countedObjects = <N extends DurableObjectNamespace>(objects: N): N =>
  new Proxy(objects, {
    get(target, name) {
      if (name !== "getByName") return bound(target, name);
      return (...given: [string]) =>
        new Proxy(target.getByName(...given), {
          get(stub, method) {
            if (typeof Reflect.get(stub, method) !== "function") return undefined;
            const callable = stub as unknown as Record<string | symbol, (...words: unknown[]) => unknown>;
            return (...words: unknown[]) => {
              counts.objectRequests += 1;
              return callable[method]!(...words);
            };
          },
        });
    },
  });

const known = new WeakMap<object, Env>();

const counted = (env: Env): Env => {
  const seen = known.get(env) ?? {
    ...env,
    DB: countedBatch(env.DB),
    AGENT_POOL: countedObjects(env.AGENT_POOL),
    BUILD_LOG: countedObjects(env.BUILD_LOG),
  };
  known.set(env, seen);
  return seen;
};

/** Counts each alarm that is set, and the rows of each statement after its cursor was read, in the same turn. */
const countStorage = ({ storage }: DurableObjectState): void => {
  const { sql } = storage;
  const exec = sql.exec.bind(sql);
  const setAlarm = storage.setAlarm.bind(storage);
  sql.exec = ((...given: Parameters<typeof exec>) => {
    const cursor = exec(...given);
    queueMicrotask(() => {
      counts.objectRowsRead += cursor.rowsRead;
      counts.objectRowsWritten += cursor.rowsWritten;
    });
    return cursor;
  }) as typeof exec;
  storage.setAlarm = (at: number | Date) => {
    counts.objectRowsWritten += 1;
    return setAlarm(Number(at) - ahead);
  };
};

/** Replaces the alarm that was due meanwhile: the real one ignores the moved clock. */
const fireAlarm = async (pool: { flush(): Promise<void> }): Promise<void> => {
  const { d1Rounds } = counts;
  await pool.flush();
  if (counts.d1Rounds === d1Rounds) return;
  counts.objectRequests += 1;
  counts.objectRowsWritten += ROWS_OF_AN_ALARM;
};

export class AgentPool extends Pool {
  constructor(ctx: DurableObjectState, env: Env) {
    countStorage(ctx);
    counts.wakes += 1;
    super(ctx, counted(env));
  }

  override alarm(): Promise<void> {
    counts.objectRequests += 1;
    return super.alarm();
  }
}

export class BuildLog extends Log {
  constructor(ctx: DurableObjectState, env: Env) {
    countStorage(ctx);
    super(ctx, counted(env));
  }
}

export default {
  ...worker,
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/enqueue") {
      const build = await request.json<NewBuild>();
      return Response.json(await env.AGENT_POOL.getByName(poolName(build.orgId)).enqueue(build));
    }
    if (pathname === "/clock") ahead += Number(searchParams.get("ahead"));
    if (pathname === "/clock") await fireAlarm(env.AGENT_POOL.getByName(poolName(searchParams.get("org") ?? "")));
    if (pathname === "/counts" || pathname === "/clock") return Response.json(counts);
    counts.requests += 1;
    return worker.fetch(request, counted(env), ctx);
  },
} satisfies ExportedHandler<Env>;
