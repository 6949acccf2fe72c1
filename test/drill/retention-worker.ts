import { calling, poolName } from "../../src/domain/durable-objects.ts";
import { keepUp } from "../../src/services/upkeep/upkeep.ts";
import worker, { BuildLog, AgentPool as Pool } from "../../src/worker.ts";

/**
 * The Worker with three additional routes. `/fill?builds=` writes old builds into the pool of the organization `old`.
 * `/upkeep?minute=` runs upkeep for that minute while one pool is unavailable. `/left` returns the number of builds in
 * this pool.
 */

const DAY_MS = 86_400_000;

export class AgentPool extends Pool {
  async fill(builds: number): Promise<void> {
    const ended = Date.now() - 2 * DAY_MS;
    this.ctx.storage.sql.exec(
      `WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ?)
       INSERT INTO build (seq, id, ended_at, facts) SELECT n, printf('old-%d', n), ?, '{"filler": "' || hex(zeroblob(500)) || '"}' FROM series`,
      ...[builds, ended],
    );
  }

  async left(): Promise<number> {
    return this.ctx.storage.sql.exec<{ count: number }>("SELECT count(*) AS count FROM build").one().count;
  }
}

export { BuildLog };

/** Counts the calls, and fails those to the object with this name, as during a network failure. */
const counted = <N extends { getByName(name: string): unknown }>(
  real: N,
  calls: { count: number },
  lost?: string,
): N => {
  const away = new Proxy({}, { get: () => () => Promise.reject(new Error("Network connection lost.")) });
  const getByName = (name: string) => {
    calls.count += 1;
    return name === lost ? away : real.getByName(name);
  };
  return { getByName } as unknown as N;
};

const upkeep = async (env: Env, minute: number) => {
  const calls = { count: 0 };
  const faulty = {
    ...env,
    AGENT_POOL: counted(env.AGENT_POOL, calls, poolName("stuck")),
    BUILD_LOG: counted(env.BUILD_LOG, calls),
  };
  const begun = Date.now();
  const done = await keepUp(faulty, new Date(minute * 60_000), { buildDays: 90, auditDays: 400 });
  return { done, objectCalls: calls.count, ms: Date.now() - begun };
};

export default {
  ...worker,
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    const pool = calling((env.AGENT_POOL as unknown as DurableObjectNamespace<AgentPool>).getByName(poolName("old")));
    if (pathname === "/fill") {
      await pool.fill(Number(searchParams.get("builds")));
      return Response.json({});
    }
    if (pathname === "/left") return Response.json(await pool.left());
    if (pathname !== "/upkeep") return worker.fetch(request, env, ctx);
    return Response.json(await upkeep(env, Number(searchParams.get("minute"))));
  },
} satisfies ExportedHandler<Env>;
