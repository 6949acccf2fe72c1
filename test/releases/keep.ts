import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { bundleWorker } from "../../src/assets/worker.ts";
import { ROOT } from "../../src/local/service.ts";
import { lastReleaseWith, OLDEST_RELEASE, RELEASES, THIS_RELEASE } from "./last.ts";

/*
 * Keeps this release's description, Worker and agent, so that the next release can be tested against them. Also keeps
 * the previous release, which this one is tested against, and the oldest release from which a service may upgrade. Run
 * it for each release. The next change then raises the version in package.json.
 */
const before = lastReleaseWith("worker.js.gz");
const folder = join(RELEASES, THIS_RELEASE);
const made = mkdtempSync(join(tmpdir(), "millrace-release-"));

mkdirSync(folder, { recursive: true });
const keep = (name: string, bytes: Buffer | string): void => writeFileSync(join(folder, name), bytes);
const squeezed = (path: string): Buffer => gzipSync(readFileSync(path), { level: 9 });

keep("worker.js.gz", squeezed(await bundleWorker(made)));
keep("agent.mjs.gz", squeezed(join(ROOT, "dist/assets/agent.mjs")));
keep("openapi.json", readFileSync(join(ROOT, "dist/assets/openapi.json")));
keep("wrangler.toml", readFileSync(join(ROOT, "wrangler.toml")));
const names = readdirSync(join(ROOT, "migrations")).filter((name) => name.endsWith(".sql"));
const migrations = names.sort().map((name) => [name, readFileSync(join(ROOT, "migrations", name), "utf8")]);
keep("migrations.json", `${JSON.stringify(Object.fromEntries(migrations), null, 2)}\n`);
rmSync(made, { recursive: true });

for (const name of readdirSync(RELEASES).filter((name) => /^\d/.test(name))) {
  const other = join(RELEASES, name);
  if (![OLDEST_RELEASE, before, folder].includes(other)) rmSync(other, { recursive: true });
}
console.log(`Release ${THIS_RELEASE} is kept in test/releases/${THIS_RELEASE}.`);
