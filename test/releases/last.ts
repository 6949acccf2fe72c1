import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const RELEASES = import.meta.dirname;

/** Folder of the oldest release from which a service may upgrade. */
export const OLDEST_RELEASE = join(RELEASES, "0.10.0");

const { version } = JSON.parse(readFileSync(join(RELEASES, "../../package.json"), "utf8")) as { version: string };

/** The version of this release, even before it is released. */
export const THIS_RELEASE = version;

/** Returns the folder of the newest kept earlier release that has `file`. @throws without such a release */
export const lastReleaseWith = (file: string): string => {
  const [last] = readdirSync(RELEASES)
    .filter((name) => /^\d/.test(name) && name !== THIS_RELEASE && existsSync(join(RELEASES, name, file)))
    .sort((one, other) => other.localeCompare(one, undefined, { numeric: true }));
  if (last === undefined) throw new Error(`No release before ${THIS_RELEASE} is kept with its ${file}.`);
  return join(RELEASES, last);
};
