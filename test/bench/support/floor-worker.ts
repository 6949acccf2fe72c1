import { DurableObject } from "cloudflare:workers";

export interface FloorEnv {
  DB: D1Database;
  POOL: DurableObjectNamespace<Floor>;
  LOG: DurableObjectNamespace<Floor>;
  RATE: RateLimit;
}

const KEEP = "INSERT OR REPLACE INTO fact VALUES (?, ?)";
const FACTS = JSON.stringify({ id: "a build's facts", branch: "main", status: "running", steps: [] });

/** An object that decides nothing: it keeps one row when it is called, and pushes to whoever waits. */
export class Floor extends DurableObject<FloorEnv> {
  constructor(ctx: DurableObjectState, env: FloorEnv) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS fact (id TEXT PRIMARY KEY, facts TEXT NOT NULL)");
  }

  async keep(id: string): Promise<void> {
    this.ctx.storage.sql.exec(KEEP, id, FACTS);
  }

  async keepAndTell(id: string): Promise<void> {
    await this.keep(id);
    await this.push(id);
    await this.env.DB.batch([this.env.DB.prepare(KEEP).bind(id, FACTS)]);
  }

  async push(tag: string): Promise<void> {
    for (const socket of this.ctx.getWebSockets(tag)) socket.send("look");
  }

  async waiting(): Promise<number> {
    return this.ctx.getWebSockets().length;
  }

  override async fetch(request: Request): Promise<Response> {
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server, [new URL(request.url).searchParams.get("id") ?? ""]);
    return new Response(null, { status: 101, webSocket: client });
  }
}

const told = (socket: WebSocket): Promise<void> =>
  new Promise((resolve) => {
    socket.addEventListener("message", () => resolve(), { once: true });
    socket.accept();
  });

/**
 * The least that a build's life and a wait can cost on this platform: as many requests, calls of objects and rounds to
 * D1 as the service cannot do without, each for one row, with no token, rule, key or check. Both ask the rate limit,
 * which the platform counts in memory but a local workerd in an object.
 */
export default {
  async fetch(request: Request, env: FloorEnv): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const id = searchParams.get("id") ?? "";
    const pool = env.POOL.getByName("pool");
    const log = env.LOG.getByName(id);
    await env.RATE.limit({ key: "floor" });
    const read = () => env.DB.batch([env.DB.prepare("SELECT facts FROM fact WHERE id = ?").bind(id)]);
    const handOut = async () => {
      await pool.keep(id);
      await read();
      await log.keep(id);
      await pool.keep(id);
    };
    switch (pathname) {
      case "/trigger":
        await read();
        await pool.keepAndTell(id);
        break;
      case "/poll":
        await handOut();
        break;
      case "/start":
        await pool.keep(id);
        break;
      case "/log":
        await request.arrayBuffer();
        await log.keep(id);
        break;
      case "/finish":
        await pool.keep(id);
        await log.keep(id);
        break;
      case "/push":
        await pool.push(id);
        break;
      case "/waiting":
        return Response.json(await pool.waiting());
      case "/wait": {
        const answer = await pool.fetch(request.url, { headers: { Upgrade: "websocket" } });
        if (request.headers.get("Upgrade") === "websocket") return answer;
        await told(answer.webSocket!);
        answer.webSocket!.close(1000);
        await handOut();
        break;
      }
    }
    return Response.json({ id });
  },
} satisfies ExportedHandler<FloorEnv>;
