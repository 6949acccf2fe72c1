import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { bundleWorker } from "../../src/assets/worker.ts";
import { Client } from "../../src/local/client.ts";
import { freshKeyset, ROOT } from "../../src/local/service.ts";
import { freePort } from "./local/free-port.ts";
import { preparedService } from "./prepared-service.ts";
import { readWorkerSettings, type WorkerSettings } from "./worker-settings.ts";

export interface ServedWorker {
  url: string;
  folder: string;
  /** Path of the bundled module. */
  script: string;
  db: D1Database;
  operator: Client;
  newOrganization(id: string): Promise<Client>;
  /** Runs the upkeep, as the cron trigger does each minute. */
  runUpkeep(): Promise<void>;
  /** Ends it at once, like a kill. */
  stop(): Promise<void>;
}

/** Applies the migrations and records them in `d1_migrations`, as wrangler does. */
const migrate = async (db: D1Database, folder: string): Promise<void> => {
  const table = "CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE)";
  await db.prepare(table).run();
  const applied = (await db.prepare("SELECT name FROM d1_migrations").all<{ name: string }>()).results;
  const names = readdirSync(folder).filter(
    (name) => name.endsWith(".sql") && !applied.some((one) => one.name === name),
  );
  for (const name of names.sort()) {
    const statements = readFileSync(join(folder, name), "utf8").split("--> statement-breakpoint");
    for (const statement of statements) await db.prepare(statement).run();
    await db.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name).run();
  }
};

/** The Worker's storage and limits, by the names that `wrangler dev` gives their files. */
const bindingsOf = (settings: WorkerSettings, requestsPerMinute: number) => ({
  d1Databases: Object.fromEntries(settings.d1_databases.map((one) => [one.binding, one.database_id])),
  r2Buckets: Object.fromEntries(settings.r2_buckets.map((one) => [one.binding, one.bucket_name])),
  durableObjects: Object.fromEntries(
    settings.durable_objects.bindings.map((one) => [one.name, { className: one.class_name, useSQLite: true }]),
  ),
  ratelimits: Object.fromEntries(
    settings.ratelimits.map(({ name, namespace_id, simple }) => {
      return [name, { namespace_id, simple: { ...simple, limit: requestsPerMinute } }];
    }),
  ),
});

const assetsOf = ({ assets: { directory, binding } }: WorkerSettings) => ({
  assets: { directory, binding, run_worker_first: true, routerConfig: { has_user_worker: true } },
});

export interface ServeOptions {
  /** Settings that replace those of wrangler.toml. */
  vars?: Record<string, string>;
  requestsPerMinute?: number;
  /** Path of another module to serve instead of the Worker. */
  entry?: string;
  /** Path of a bundle to serve unchanged. */
  script?: string | undefined;
  /** Path of the settings of another release, whose module is bundled. */
  config?: string | undefined;
  /** Whether to serve the static files too. Without them a request takes one step less. */
  hasAssets?: boolean;
  /** Folder that keeps the state for a later service. By default the state belongs only to this new service. */
  stateFolder?: string;
  port?: number;
  inspectorPort?: number | undefined;
  /** Receives the Worker's output. By default its errors are printed. */
  print?: (text: string, level: string) => void;
}

const printError = (text: string, level: string): void => void (level === "error" && console.error(text));

/** Returns the module to serve, and bundles it unless that was done before all tests. */
const scriptOf = async (folder: string, { main }: WorkerSettings, { entry, config }: ServeOptions): Promise<string> => {
  if (config !== undefined) return main;
  return (entry === undefined && preparedService()?.script) || bundleWorker(join(folder, "bundle"), entry);
};

/** Serves the bundled Worker with workerd, without the proxy of the development server. */
export const serveBundled = async (options: ServeOptions = {}): Promise<ServedWorker> => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-served-"));
  const settings = readWorkerSettings(options.config ?? join(ROOT, "wrangler.toml"));
  const script = options.script ?? (await scriptOf(folder, settings, options));
  const stateFolder = options.stateFolder ?? newState(join(folder, "state"));
  const keys = { ...freshKeyset(), ...options.vars };
  const port = options.port ?? (await freePort());
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      name: settings.name,
      modules: [{ type: "ESModule", path: "worker.js", contents: readFileSync(script, "utf8") }],
      compatibilityDate: settings.compatibility_date,
      compatibilityFlags: settings.compatibility_flags,
      bindings: { ...settings.vars, CLONE_PROTOCOLS: "https,ssh,file", ...keys },
      ...bindingsOf(settings, options.requestsPerMinute ?? 1e9),
      ...(options.hasAssets ? assetsOf(settings) : {}),
      unsafeDirectSockets: [{ host: "127.0.0.1", port }],
      unsafeTriggerHandlers: true,
      cf: false,
      resourcePersistencePath: join(stateFolder, "v3"),
      ...(options.inspectorPort === undefined ? {} : { inspectorPort: options.inspectorPort }),
      handleStructuredLogs: ({ level, message }) => (options.print ?? printError)(message, level),
    }),
  );
  const entrance = await miniflare.ready;
  const db = (await miniflare.getD1Database("DB")) as unknown as D1Database;
  await migrate(db, settings.d1_databases[0]!.migrations_dir);
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
    async runUpkeep() {
      const answer = await fetch(new URL("/cdn-cgi/local/scheduled", entrance));
      if (!answer.ok) throw new Error(`Upkeep failed: ${await answer.text()}`);
    },
    async stop() {
      await miniflare.dispose();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** Uses the tests' prepared, migrated database as the initial state, if there is one. */
export const newState = (folder: string): string => {
  const prepared = preparedService();
  if (prepared) cpSync(prepared.state, folder, { recursive: true });
  return folder;
};
