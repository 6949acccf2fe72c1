import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { Client } from "../../../src/local/client.ts";
import { freshKeyset } from "../../../src/local/keyset.ts";
import { ROOT } from "../../../src/local/service.ts";
import { freePort } from "../../support/local/service.ts";

export interface ServedWorker {
  url: string;
  folder: string;
  operator: Client;
  newOrganization(id: string): Promise<Client>;
  stop(): Promise<void>;
}

const VARS = {
  ...{ CLONE_PROTOCOLS: "https,ssh,file", START_SECONDS: "30", LEASE_SECONDS: "60" },
  ...{ HEARTBEAT_SECONDS: "15", POLL_SECONDS: "50", BUILD_DAYS: "90", AUDIT_DAYS: "400" },
};

/** Bundles the Worker as a deployment would. Gives the path of the one module. */
export const bundle = (folder: string): string => {
  const wrangler = join(ROOT, "node_modules/wrangler/bin/wrangler.js");
  execFileSync(process.execPath, [wrangler, "deploy", "--dry-run", "--minify", "--outdir", folder], {
    ...{ cwd: ROOT, stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, CI: "1" } },
  });
  return join(folder, "worker.js");
};

const migrationStatements = (): string[] =>
  readdirSync(join(ROOT, "migrations"))
    .filter((name) => name.endsWith(".sql"))
    .sort()
    .flatMap((name) => readFileSync(join(ROOT, "migrations", name), "utf8").split("--> statement-breakpoint"));

/** The bundled Worker in workerd itself, without the development server's proxy before it. */
export const serveBundled = async (): Promise<ServedWorker> => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-bench-"));
  const script = bundle(join(folder, "bundle"));
  const keys = freshKeyset();
  const port = await freePort();
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: [{ type: "ESModule", path: "worker.js", contents: readFileSync(script, "utf8") }],
      compatibilityDate: "2026-11-01",
      compatibilityFlags: ["enable_request_signal", "request_signal_passthrough"],
      bindings: { ...VARS, ...keys },
      d1Databases: { DB: "millrace" },
      durableObjects: {
        AGENT_POOL: { className: "AgentPool", useSQLite: true },
        BUILD_LOG: { className: "BuildLog", useSQLite: true },
      },
      unsafeDirectSockets: [{ host: "127.0.0.1", port }],
      cf: false,
    }),
  );
  await miniflare.ready;
  const db = await miniflare.getD1Database("DB");
  for (const statement of migrationStatements()) await db.prepare(statement).run();
  const url = `http://127.0.0.1:${port}`;
  const operator = new Client(url, keys.OPERATOR_TOKEN);
  return {
    ...{ url, folder, operator },
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
