import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { ROOT } from "../../../src/local/service.ts";

export interface Release {
  version: string;
  /** Configuration by which wrangler serves it. */
  config: string;
  /** Its agent program. */
  agent: string;
}

const RELEASES = join(ROOT, "test/releases");

const lastKept = (): string => {
  const kept = readdirSync(RELEASES, { recursive: true, encoding: "utf8" }).find((path) =>
    path.endsWith("worker.js.gz"),
  );
  if (!kept) throw new Error("No release is kept in test/releases: `npm run release` keeps one.");
  return join(RELEASES, kept, "..");
};

/** Lays the service and the agent of the release before into `folder`, with the migrations that it knew. */
export const unpackLastRelease = (folder: string): Release => {
  const kept = lastKept();
  const unpack = (name: string, to: string): void =>
    writeFileSync(join(folder, to), gunzipSync(readFileSync(join(kept, name))));
  unpack("worker.js.gz", "worker.js");
  unpack("agent.mjs.gz", "agent.mjs");
  mkdirSync(join(folder, "migrations"));
  for (const name of JSON.parse(readFileSync(join(kept, "migrations.json"), "utf8")) as string[]) {
    copyFileSync(join(ROOT, "migrations", name), join(folder, "migrations", name));
  }
  const config = readFileSync(join(kept, "wrangler.toml"), "utf8")
    .replace('main = "src/worker.ts"', 'main = "worker.js"\nno_bundle = true')
    .replace(/^minify = .*$/m, "")
    .replace(/^\[build\]\ncommand = .*$/m, "")
    .replace('directory = "dist/assets"', `directory = "${join(ROOT, "dist/assets")}"`);
  writeFileSync(join(folder, "wrangler.toml"), config);
  return {
    version: kept.slice(RELEASES.length + 1),
    config: join(folder, "wrangler.toml"),
    agent: join(folder, "agent.mjs"),
  };
};
