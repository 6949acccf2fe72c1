import { join } from "node:path";

const VARIABLE = "MILLRACE_TEST_SERVICE";

/** What the tests of a run share: it is made once before them. Programs beside the tests have none, and make their own. */
interface PreparedService {
  /** The settings of wrangler.toml, but what [build] makes is there already. */
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

/** Tells the tests that come. */
export const announcePrepared = (folder: string): void => {
  process.env[VARIABLE] = folder;
};
