import { DurableObject } from "cloudflare:workers";

export interface FloorEnv {
  DB: D1Database;
  POOL: DurableObjectNamespace<Floor>;
  LOG: DurableObjectNamespace<Floor>;
  RATE: RateLimit;
}

const KEEP = "INSERT OR REPLACE INTO fact VALUES (?, ?)";
const FACTS = JSON.stringify({ id: "a build's facts", branch: "main", status: "running", steps: [] });

/** An object without rules: each call stores one row, and pushes to the waiting sockets. */
export class Floor extends DurableObject<FloorEnv> {
  constructor(ctx: DurableObjectState, env: FloorEnv) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS fact (id TEXT PRIMARY KEY, facts TEXT NOT NULL)");
  }

  async store(id: string): Promise<void> {
    this.ctx.storage.sql.exec(KEEP, id, FACTS);
  }

  /** Stores so many rows in one transaction. */
  async storeAll(count: number): Promise<void> {
    this.ctx.storage.transactionSync(() => {
      for (let row = 0; row < count; row++) this.ctx.storage.sql.exec(KEEP, crypto.randomUUID(), FACTS);
    });
  }

  async storeAndPush(id: string): Promise<void> {
    await this.store(id);
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

const firstMessage = (socket: WebSocket): Promise<void> =>
  new Promise((resolve) => {
    socket.addEventListener("message", () => resolve(), { once: true });
    socket.accept();
  });

/**
 * The lowest possible cost of a build and a waiting agent on this platform. It has only the requests, object calls and
 * D1 round trips that the service needs too, each for one row, without tokens, rules, keys or checks. It uses the rate
 * limiter like the service, because a local workerd counts in an object and Cloudflare counts in memory.
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
      await pool.store(id);
      await read();
      await log.store(id);
      await pool.store(id);
    };
    switch (pathname) {
      case "/trigger":
        await read();
        await pool.storeAndPush(id);
        break;
      case "/plan":
        await request.text();
        await read();
        await pool.storeAll(Number(searchParams.get("jobs")));
        break;
      case "/poll":
        await handOut();
        break;
      case "/start":
        await pool.store(id);
        break;
      case "/log":
        await request.arrayBuffer();
        await log.store(id);
        break;
      case "/finish":
        await pool.store(id);
        await log.store(id);
        break;
      case "/push":
        await pool.push(id);
        break;
      case "/waiting":
        return Response.json(await pool.waiting());
      case "/wait": {
        const answer = await pool.fetch(request.url, { headers: { Upgrade: "websocket" } });
        if (request.headers.get("Upgrade") === "websocket") return answer;
        await firstMessage(answer.webSocket!);
        answer.webSocket!.close(1000);
        await handOut();
        break;
      }
    }
    return Response.json({ id });
  },
} satisfies ExportedHandler<FloorEnv>;
