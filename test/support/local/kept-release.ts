import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { ROOT } from "../../../src/local/service.ts";

export interface Release {
  /** Path of its wrangler configuration. */
  config: string;
  /** Path of its agent program. */
  agent: string;
}

/** Unpacks service, agent and migrations of a release in the folder `kept`. */
export const unpackRelease = (kept: string, folder: string): Release => {
  const unpack = (name: string, to: string): void =>
    writeFileSync(join(folder, to), gunzipSync(readFileSync(join(kept, name))));
  unpack("worker.js.gz", "worker.js");
  unpack("agent.mjs.gz", "agent.mjs");
  mkdirSync(join(folder, "migrations"));
  const migrations = JSON.parse(readFileSync(join(kept, "migrations.json"), "utf8")) as Record<string, string>;
  for (const [name, text] of Object.entries(migrations)) writeFileSync(join(folder, "migrations", name), text);
  const settings = (path: string): string => readFileSync(join(path, "wrangler.toml"), "utf8");
  const date = /^compatibility_date = .*$/m;
  const config = settings(kept)
    .replace(date, date.exec(settings(ROOT))?.[0] ?? "")
    .replace(/^(minify|no_bundle) = .*$/gm, "")
    .replace(/^main = .*$/m, 'main = "worker.js"\nno_bundle = true')
    .replace(/^\[build\]\ncommand = .*$/m, "")
    .replace('directory = "dist/assets"', `directory = "${join(ROOT, "dist/assets")}"`);
  writeFileSync(join(folder, "wrangler.toml"), config);
  return { config: join(folder, "wrangler.toml"), agent: join(folder, "agent.mjs") };
};
