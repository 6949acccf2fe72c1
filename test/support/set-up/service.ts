import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate, ROOT } from "../../../src/local/service.ts";
import { bundle } from "../bundled-worker.ts";

const VARIABLE = "MILLRACE_TEST_SERVICE";

/** What the tests of a run share: it is made once before them. Programs beside the tests have none, and make their own. */
export interface PreparedService {
  /** The settings of wrangler.toml, but what [build] makes is there already. */
  config: string;
  /** A state folder to copy, whose database has all migrations. */
  state: string;
  /** The bundled Worker. */
  script: string;
}

const within = (folder: string): PreparedService => ({
  config: join(folder, "wrangler.toml"),
  state: join(folder, "state"),
  script: join(folder, "bundle/worker.js"),
});

export const preparedService = (): PreparedService | null => {
  const folder = process.env[VARIABLE];
  return folder === undefined ? null : within(folder);
};

/** The settings as they are, found from another folder, without the command that makes the static files. */
const withoutBuild = (settings: string): string =>
  settings
    .replace(/^\[build\]\ncommand = .*\n/m, "")
    .replace(/^(main|directory|migrations_dir) = "(.*)"$/gm, (_, name, path) => `${name} = "${join(ROOT, path)}"`);

/** Bundles by wrangler.toml, which makes the static files too, and migrates: half of what a service's start costs. */
export const setup = async (): Promise<() => void> => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-prepared-"));
  const { config, state, script } = within(folder);
  writeFileSync(config, withoutBuild(readFileSync(join(ROOT, "wrangler.toml"), "utf8")));
  const migrated = migrate(state);
  bundle(join(script, ".."));
  await migrated;
  process.env[VARIABLE] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
};
