import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { ROOT } from "../../src/local/service.ts";
import { bundle } from "../support/bundled-worker.ts";
import { lastReleaseWith, RELEASES, THIS_RELEASE } from "./last.ts";

/*
 * Keeps this release for the next one to be tested against: its description for good, its Worker and agent until two
 * later ones are kept. Run it when a release is made; the next change then raises the version in package.json.
 */
const RUNS = ["worker.js.gz", "agent.mjs.gz", "wrangler.toml", "migrations.json"];
const before = lastReleaseWith("worker.js.gz");
const folder = join(RELEASES, THIS_RELEASE);
const made = mkdtempSync(join(tmpdir(), "millrace-release-"));

mkdirSync(folder, { recursive: true });
const keep = (name: string, bytes: Buffer | string): void => writeFileSync(join(folder, name), bytes);
const squeezed = (path: string): Buffer => gzipSync(readFileSync(path), { level: 9 });

keep("worker.js.gz", squeezed(bundle(made)));
keep("agent.mjs.gz", squeezed(join(ROOT, "dist/assets/agent.mjs")));
keep("openapi.json", readFileSync(join(ROOT, "dist/assets/openapi.json")));
keep("wrangler.toml", readFileSync(join(ROOT, "wrangler.toml")));
const migrations = readdirSync(join(ROOT, "migrations")).filter((name) => name.endsWith(".sql"));
keep("migrations.json", `${JSON.stringify(migrations.sort(), null, 2)}\n`);
rmSync(made, { recursive: true });

for (const name of readdirSync(RELEASES).filter((name) => /^\d/.test(name))) {
  const other = join(RELEASES, name);
  if (other !== folder && other !== before) for (const file of RUNS) rmSync(join(other, file), { force: true });
}
console.log(`Release ${THIS_RELEASE} is kept in test/releases/${THIS_RELEASE}.`);
