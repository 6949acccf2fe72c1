import { join } from "node:path";

const VARIABLE = "MILLRACE_TEST_SERVICE";

/** The shared parts of a test run, created once before the tests. Other programs create their own. */
interface PreparedService {
  /** The settings of wrangler.toml, except that the output of [build] already exists. */
  config: string;
  /** A state folder to copy, whose database has all migrations. */
  state: string;
  /** The bundled Worker. */
  script: string;
}

export const preparedIn = (folder: string): PreparedService => ({
  config: join(folder, "wrangler.toml"),
  state: join(folder, "state"),
  script: join(folder, "bundle/worker.js"),
});

export const preparedService = (): PreparedService | null => {
  const folder = process.env[VARIABLE];
  return folder === undefined ? null : preparedIn(folder);
};

/** Announces it to later tests. */
export const announcePrepared = (folder: string): void => {
  process.env[VARIABLE] = folder;
};
