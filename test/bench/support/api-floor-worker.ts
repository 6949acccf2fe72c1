import { DurableObject } from "cloudflare:workers";

interface FloorEnv {
  DB: D1Database;
  POOL: DurableObjectNamespace<Floor>;
  RATE: RateLimit;
}

const TOKEN = "SELECT * FROM token WHERE hash = ?";
const VARIABLES = "SELECT * FROM variable WHERE org_id = ? AND is_active = 1 ORDER BY id";

/** Stores one row for each agent. */
export class Floor extends DurableObject<FloorEnv> {
  constructor(ctx: DurableObjectState, env: FloorEnv) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS heard (id TEXT PRIMARY KEY, at INTEGER)");
  }

  async recordHeartbeat(id: string): Promise<void> {
    this.ctx.storage.sql.exec("INSERT OR REPLACE INTO heard VALUES (?, ?)", id, Date.now());
  }
}

/**
 * The lowest possible cost of a read of variables and of a heartbeat: two statements in one batch, one upsert. Under
 * `/limited/` it counts the request as the service does, for the token and then for the organization. Cloudflare counts
 * in memory, but a local workerd counts in an object, which takes longer than the rest of a heartbeat.
 */
export default {
  async fetch(request: Request, { DB, POOL, RATE }: FloorEnv): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/hello") return new Response("hello");
    if (pathname.startsWith("/limited/")) for (const key of ["token", "organization"]) await RATE.limit({ key });
    if (pathname.endsWith("/heartbeat")) {
      await POOL.getByName("pool").recordHeartbeat("agent");
      return Response.json({ cancel: false });
    }
    const [, variables] = await DB.batch([DB.prepare(TOKEN).bind("hash"), DB.prepare(VARIABLES).bind("acme")]);
    return Response.json(variables?.results);
  },
} satisfies ExportedHandler<FloorEnv>;
