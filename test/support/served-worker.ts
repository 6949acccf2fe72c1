import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { unstable_readConfig as readWranglerConfig } from "wrangler";
import { Client } from "../../src/local/client.ts";
import { freshKeyset } from "../../src/local/keyset.ts";
import { ROOT } from "../../src/local/service.ts";
import { bundle } from "./bundled-worker.ts";
import { freePort } from "./local/service.ts";
import { preparedService } from "./set-up/service.ts";

export interface ServedWorker {
  url: string;
  folder: string;
  /** Path of the bundled module. */
  script: string;
  db: D1Database;
  operator: Client;
  newOrganization(id: string): Promise<Client>;
  stop(): Promise<void>;
}

/** Applies the migrations and records them in `d1_migrations`, as wrangler does. */
const migrate = async (db: D1Database): Promise<void> => {
  const table = "CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE)";
  await db.prepare(table).run();
  const applied = (await db.prepare("SELECT name FROM d1_migrations").all<{ name: string }>()).results;
  const names = readdirSync(join(ROOT, "migrations")).filter(
    (name) => name.endsWith(".sql") && !applied.some((one) => one.name === name),
  );
  for (const name of names.sort()) {
    const statements = readFileSync(join(ROOT, "migrations", name), "utf8").split("--> statement-breakpoint");
    for (const statement of statements) await db.prepare(statement).run();
    await db.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name).run();
  }
};

interface RateLimit {
  name: string;
  namespace_id: string;
  simple: { limit: number; period: 10 | 60 };
}

/** The settings of wrangler.toml, with this rate limit. */
const settings = (requestsPerMinute: number) => {
  const { vars, compatibility_date, compatibility_flags, ratelimits } = readWranglerConfig({
    config: join(ROOT, "wrangler.toml"),
  });
  const limited = ratelimits.map(({ name, namespace_id, simple }: RateLimit) => {
    return [name, { namespace_id, simple: { ...simple, limit: requestsPerMinute } }] as const;
  });
  return {
    compatibilityDate: compatibility_date,
    compatibilityFlags: compatibility_flags,
    vars: vars as Record<string, string>,
    ratelimits: Object.fromEntries(limited),
  };
};

interface ServeOptions {
  /** Settings that replace those of wrangler.toml. */
  vars?: Record<string, string>;
  requestsPerMinute?: number;
  /** Path of another module to serve instead of the Worker. */
  entry?: string;
  /** Folder in which the state is kept for a later service. */
  stateFolder?: string;
  inspectorPort?: number;
}

/** Serves the bundled Worker with workerd, without the proxy of the development server. */
export const serveBundled = async (options: ServeOptions = {}): Promise<ServedWorker> => {
  const { stateFolder, inspectorPort } = options;
  const folder = mkdtempSync(join(tmpdir(), "millrace-served-"));
  const prepared = options.entry === undefined ? preparedService() : null;
  const script = prepared?.script ?? bundle(join(folder, "bundle"), options.entry);
  const keys = freshKeyset();
  const port = await freePort();
  const { compatibilityDate, compatibilityFlags, vars, ratelimits } = settings(options.requestsPerMinute ?? 1e9);
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: [{ type: "ESModule", path: "worker.js", contents: readFileSync(script, "utf8") }],
      compatibilityDate,
      compatibilityFlags,
      ratelimits,
      bindings: { ...vars, CLONE_PROTOCOLS: "https,ssh,file", ...keys, ...options.vars },
      d1Databases: { DB: "millrace" },
      r2Buckets: { ARCHIVE: "millrace-archive" },
      durableObjects: {
        AGENT_POOL: { className: "AgentPool", useSQLite: true },
        BUILD_LOG: { className: "BuildLog", useSQLite: true },
        GIT_HOST: { className: "GitHost", useSQLite: true },
      },
      unsafeDirectSockets: [{ host: "127.0.0.1", port }],
      cf: false,
      ...(stateFolder === undefined ? {} : { resourcePersistencePath: stateFolder }),
      ...(inspectorPort === undefined ? {} : { inspectorPort }),
      handleStructuredLogs: ({ level, message }) => void (level === "error" && console.error(message)),
    }),
  );
  await miniflare.ready;
  const db = (await miniflare.getD1Database("DB")) as unknown as D1Database;
  await migrate(db);
  const url = `http://127.0.0.1:${port}`;
  const operator = new Client(url, keys.OPERATOR_TOKEN);
  return {
    url,
    folder,
    script,
    db,
    operator,
    async newOrganization(id) {
      const { token } = await operator.call<{ token: string }>("POST", "/organization", { id, name: id });
      return new Client(url, token);
    },
    async stop() {
      await miniflare.dispose();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
