import { DurableObject } from "cloudflare:workers";

interface FloorEnv {
  DB: D1Database;
  POOL: DurableObjectNamespace<Floor>;
}

const REPOSITORY = "org_id = ? AND connection_id = ? AND git_host_repo_id = ? AND is_active = 1";
const OWN = `repo_id IN (SELECT id FROM repository WHERE ${REPOSITORY})`;
const STATEMENTS = [
  "SELECT * FROM connection WHERE org_id = ? AND id = ?",
  `SELECT *, EXISTS (SELECT 1 FROM credential AS c WHERE c.repo_id = repository.id) FROM repository WHERE ${REPOSITORY}`,
  `SELECT * FROM pipeline WHERE ${OWN} AND is_active = 1 ORDER BY id`,
  `SELECT * FROM open_pull WHERE ${OWN} AND ref = 'refs/heads/main'`,
];

/** The row that a pool stores for a delivery with a build, in about as many bytes. */
const FACTS = "x".repeat(2_000);

/** Stores one row for each delivery. */
export class Floor extends DurableObject<FloorEnv> {
  constructor(ctx: DurableObjectState, env: FloorEnv) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS build (id TEXT PRIMARY KEY, facts TEXT NOT NULL)");
  }

  async store(id: string): Promise<void> {
    this.ctx.storage.sql.exec("INSERT OR REPLACE INTO build VALUES (?, ?)", id, FACTS);
  }
}

const isSigned = async (secret: string, signature: string, body: ArrayBuffer): Promise<boolean> => {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(secret), algorithm, false, ["verify"]);
  const bytes = Uint8Array.from(signature.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return crypto.subtle.verify("HMAC", key, bytes, body);
};

/** The lowest possible cost of a delivery: its signature, one batch that reads known records, one row in an object. */
export default {
  async fetch(request: Request, { DB, POOL }: FloorEnv): Promise<Response> {
    const header = (name: string): string => request.headers.get(name) ?? "";
    const body = await request.arrayBuffer();
    if (!(await isSigned(header("Secret"), header("X-Hub-Signature-256").slice(7), body))) {
      return new Response(null, { status: 401 });
    }
    const [orgId, connectionId] = [header("Organization"), header("Connection")];
    const [first, ...others] = STATEMENTS.map((sql) => DB.prepare(sql));
    await DB.batch([
      first!.bind(orgId, connectionId),
      ...others.map((statement) => statement.bind(orgId, connectionId, 1)),
    ]);
    await POOL.getByName("pool").store(header("X-GitHub-Delivery"));
    return Response.json({ builds: [] }, { status: 202 });
  },
} satisfies ExportedHandler<FloorEnv>;
