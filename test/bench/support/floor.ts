import { join } from "node:path";
import { buildSync } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { freePort } from "../../support/local/free-port.ts";

export interface ServedFloor {
  url: string;
  db: D1Database;
  stop(): Promise<void>;
}

/** Serves one of this folder's bare Workers with workerd, like the service. */
export const serveFloor = async (entry = "floor-worker.ts"): Promise<ServedFloor> => {
  const { outputFiles } = buildSync({
    entryPoints: [join(import.meta.dirname, entry)],
    bundle: true,
    write: false,
    format: "esm",
    target: "esnext",
    external: ["cloudflare:*"],
    minify: true,
  });
  const port = await freePort();
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: [{ type: "ESModule", path: "floor-worker.js", contents: outputFiles[0]!.text }],
      compatibilityDate: "2026-10-23",
      d1Databases: { DB: "floor" },
      r2Buckets: { BUCKET: "floor" },
      durableObjects: {
        POOL: { className: "Floor", useSQLite: true },
        LOG: { className: "Floor", useSQLite: true },
      },
      ratelimits: { RATE: { namespace_id: "1", simple: { limit: 1e9, period: 60 } } },
      unsafeDirectSockets: [{ host: "127.0.0.1", port }],
      cf: false,
    }),
  );
  await miniflare.ready;
  const db = (await miniflare.getD1Database("DB")) as unknown as D1Database;
  await db.prepare("CREATE TABLE fact (id TEXT PRIMARY KEY, facts TEXT NOT NULL)").run();
  return { url: `http://127.0.0.1:${port}`, db, stop: () => miniflare.dispose() };
};
