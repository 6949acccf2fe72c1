import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isXcode, xcodesIn } from "../../protocol/xcodes.ts";

/** An Xcode on this machine. */
interface Xcode {
  version: string;
  /** The value for DEVELOPER_DIR, in the sense of xcode-select(1). */
  developerFolder: string;
}

const SHORT_VERSION = /<key>CFBundleShortVersionString<\/key>\s*<string>([^<]+)<\/string>/;

const readVersion = (application: string): string | undefined => {
  try {
    const text = readFileSync(join(application, "Contents/version.plist"), "utf8");
    return xcodesIn(SHORT_VERSION.exec(text)?.[1] ?? null)[0];
  } catch {
    return undefined;
  }
};

/** Finds the Xcodes in an applications folder, the newest first. */
export const findXcodes = (folder = "/Applications"): Xcode[] => {
  if (!existsSync(folder)) return [];
  const xcodes = readdirSync(folder)
    .filter((name) => /^Xcode.*\.app$/.test(name))
    .flatMap((name) => {
      const version = readVersion(join(folder, name));
      const developerFolder = join(folder, name, "Contents/Developer");
      return version !== undefined && existsSync(developerFolder) ? [{ version, developerFolder }] : [];
    });
  return xcodes.sort((one, other) => other.version.localeCompare(one.version, "en", { numeric: true }));
};

/** Returns the newest Xcode that `wanted` names. */
export const chosenXcode = (wantedVersion: string, xcodes: readonly Xcode[]): Xcode | undefined =>
  xcodes.find(({ version }) => isXcode(wantedVersion, version));
