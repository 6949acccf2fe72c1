import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { downloadedMise } from "../../../../src/agent/tools/mise-program.ts";

/** Only for this kind of machine the agent has a hash of mise. */
export const hasMise = process.platform === "linux" && process.arch === "x64";

/** The registry that npm uses here. */
const testedRegistry = (): string =>
  execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();

/** Fetches mise as an agent does, once. @returns its folder for `seed` */
export const fetchMise = async (): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-mise-"));
  await downloadedMise(folder, testedRegistry(), new AbortController().signal);
  return folder;
};

/** Gives the state folder of an agent what it would have fetched. */
export const seed = (folder: string, state: string): void => {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  cpSync(folder, join(state, "tools"), { recursive: true });
};
