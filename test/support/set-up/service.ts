import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "../../../src/local/service.ts";
import { bundle } from "../bundled-worker.ts";
import { announcePrepared, preparedIn } from "../prepared-service.ts";
import { serveBundled } from "../served-worker.ts";

/** Returns the settings for another folder, without the command that creates the static files, which already exist. */
const withoutBuild = (settings: string): string =>
  settings
    .replace(/^\[build\]\ncommand = .*\n/m, "")
    .replace(/^(main|directory|migrations_dir) = "(.*)"$/gm, (_, name, path) => `${name} = "${join(ROOT, path)}"`);

/** Bundles with wrangler.toml and migrates: most of a service's start. */
export const setup = async (): Promise<() => void> => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-prepared-"));
  const { config, state, script } = preparedIn(folder);
  writeFileSync(config, withoutBuild(readFileSync(join(ROOT, "wrangler.toml"), "utf8")));
  bundle(dirname(script), undefined, config);
  announcePrepared(folder);
  const service = await serveBundled({ stateFolder: state });
  await service.stop();
  return () => rmSync(folder, { recursive: true, force: true });
};
