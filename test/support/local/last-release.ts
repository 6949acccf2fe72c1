import { appendFileSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { ROOT } from "../../../src/local/service.ts";
import { lastReleaseWith } from "../../releases/last.ts";

export interface Release {
  /** Path of its wrangler configuration. */
  config: string;
  /** Path of its agent program. */
  agent: string;
}

/** What docs/deploy.md says to add for the way back: 0.4.0 does not know the objects of git hosts. */
const CLASS_OF_LATER = 'export { DurableObject as GitHost } from "cloudflare:workers";\n';
const MIGRATION_OF_LATER = '[[migrations]]\ntag = "v2"\nnew_sqlite_classes = ["GitHost"]\n';

/** Makes a release before the objects of git hosts one that may follow a later release. */
const declareLaterClass = (folder: string): void => {
  const settings = readFileSync(join(folder, "wrangler.toml"), "utf8");
  if (settings.includes("GitHost")) return;
  appendFileSync(join(folder, "worker.js"), `\n${CLASS_OF_LATER}`);
  const classes = 'new_sqlite_classes = ["AgentPool", "BuildLog"]\n';
  writeFileSync(join(folder, "wrangler.toml"), settings.replace(classes, `${classes}\n${MIGRATION_OF_LATER}`));
};

/** Unpacks service, agent and migrations of the last release into `folder`. */
export const unpackLastRelease = (folder: string): Release => {
  const kept = lastReleaseWith("worker.js.gz");
  const unpack = (name: string, to: string): void =>
    writeFileSync(join(folder, to), gunzipSync(readFileSync(join(kept, name))));
  unpack("worker.js.gz", "worker.js");
  unpack("agent.mjs.gz", "agent.mjs");
  mkdirSync(join(folder, "migrations"));
  for (const name of JSON.parse(readFileSync(join(kept, "migrations.json"), "utf8")) as string[]) {
    copyFileSync(join(ROOT, "migrations", name), join(folder, "migrations", name));
  }
  const settings = (path: string): string => readFileSync(join(path, "wrangler.toml"), "utf8");
  const date = /^compatibility_date = .*$/m;
  const config = settings(kept)
    .replace(date, date.exec(settings(ROOT))?.[0] ?? "")
    .replace('main = "src/worker.ts"', 'main = "worker.js"\nno_bundle = true')
    .replace(/^minify = .*$/m, "")
    .replace(/^\[build\]\ncommand = .*$/m, "")
    .replace('directory = "dist/assets"', `directory = "${join(ROOT, "dist/assets")}"`);
  writeFileSync(join(folder, "wrangler.toml"), config);
  declareLaterClass(folder);
  return { config: join(folder, "wrangler.toml"), agent: join(folder, "agent.mjs") };
};
