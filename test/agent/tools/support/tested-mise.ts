import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { downloadedMise } from "../../../../src/agent/tools/mise-program.ts";

/** The agent has a hash of mise only for this kind of machine. */
export const hasMise = process.platform === "linux" && process.arch === "x64";

/** Returns the registry that npm uses here. */
const testedRegistry = (): string =>
  execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();

/** Fetches mise as an agent does, once. @returns its folder for `seed` */
export const fetchMise = async (): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-mise-"));
  await downloadedMise(folder, testedRegistry(), new AbortController().signal);
  return folder;
};

/** Copies the files that an agent would have fetched into its state folder. */
export const seed = (folder: string, state: string): void => {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  cpSync(folder, join(state, "tools"), { recursive: true });
};
