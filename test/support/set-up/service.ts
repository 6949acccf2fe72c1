import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { bundleWorker } from "../../../src/assets/worker.ts";
import { ROOT } from "../../../src/local/service.ts";
import { announcePrepared, preparedIn } from "../prepared-service.ts";
import { serveBundled } from "../served-worker.ts";

/** Returns the settings for another folder, without the command that creates the bundle and the static files, which already exist. */
const withoutBuild = (settings: string, script: string): string =>
  settings
    .replace(/^\[build\]\ncommand = .*\n/m, "")
    .replace(/^main = .*$/m, `main = "${script}"`)
    .replace(/^(directory|migrations_dir) = "(.*)"$/gm, (_, name, path) => `${name} = "${join(ROOT, path)}"`);

/** Bundles and migrates: most of what a service's start costs. */
export const setup = async (): Promise<() => void> => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-prepared-"));
  const { config, state, script } = preparedIn(folder);
  writeFileSync(config, withoutBuild(readFileSync(join(ROOT, "wrangler.toml"), "utf8"), script));
  await bundleWorker(dirname(script));
  announcePrepared(folder);
  const service = await serveBundled({ stateFolder: state });
  await service.stop();
  return () => rmSync(folder, { recursive: true, force: true });
};
