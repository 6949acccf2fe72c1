import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { bundle } from "../support/served-worker.ts";

/*
 * Keeps this release for the next one to be tested against: its description for good, its Worker and agent until
 * another release takes their place. Run it when a release is made.
 */
const ROOT = join(import.meta.dirname, "../..");
const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
const folder = join(import.meta.dirname, version);
const made = mkdtempSync(join(tmpdir(), "millrace-release-"));

mkdirSync(folder, { recursive: true });
const keep = (name: string, bytes: Buffer | string): void => writeFileSync(join(folder, name), bytes);
const squeezed = (path: string): Buffer => gzipSync(readFileSync(path), { level: 9 });

keep("worker.js.gz", squeezed(bundle(made)));
execFileSync(process.execPath, [join(ROOT, "src/agent/bundle.ts"), join(made, "agent.mjs")], { stdio: "inherit" });
keep("agent.mjs.gz", squeezed(join(made, "agent.mjs")));
keep("openapi.json", readFileSync(join(ROOT, "dist/assets/openapi.json")));
keep("wrangler.toml", readFileSync(join(ROOT, "wrangler.toml")));
const migrations = readdirSync(join(ROOT, "migrations")).filter((name) => name.endsWith(".sql"));
keep("migrations.json", `${JSON.stringify(migrations.sort(), null, 2)}\n`);
rmSync(made, { recursive: true });

for (const other of readdirSync(import.meta.dirname, { withFileTypes: true })) {
  if (!other.isDirectory() || other.name === version) continue;
  for (const name of ["worker.js.gz", "agent.mjs.gz", "wrangler.toml", "migrations.json"]) {
    rmSync(join(import.meta.dirname, other.name, name), { force: true });
  }
}
console.log(`Release ${version} is kept in test/releases/${version}.`);
