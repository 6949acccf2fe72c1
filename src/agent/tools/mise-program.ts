import { execFile } from "node:child_process";
import { copyFileSync, linkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { BuildFailure } from "../failure.ts";
import { runAs } from "../process/as-user.ts";
import type { StepUser } from "../process/step-user.ts";
import { findProgram } from "../steps/find-program.ts";
import { downloadedMise } from "./mise-download.ts";
import { isRecentEnough, MISE_VERSION } from "./mise-release.ts";

/** Where this agent gets mise, and where it keeps what tools need. */
export interface ToolSources {
  /** A folder of the agent's own. */
  folder: string;
  /** A program that the machine's owner named. */
  mise: string | null;
  /** Address of npm's registry, or of one that has the same packages. */
  registry: string;
  /** Most bytes of all installed tools that are kept for later builds. */
  quotaBytes: number;
}

export interface MiseProgram {
  path: string;
  /** Said in the log. */
  note: string | null;
}

const ADVICE = `install mise ${MISE_VERSION} or newer (https://mise.jdx.dev), or start the agent with --mise PATH`;
const fail = (message: string): BuildFailure => new BuildFailure("agent-error", `tools: ${message}`);

/** Whether the agent has a hash of mise for this machine. */
const isKnownMachine = (): boolean => process.platform === "linux" && process.arch === "x64";

const VERSION = /^(?:mise )?(\d{4}\.\d{1,2}\.\d{1,3})\b/;

/** Asks the program for its version, with the rights of the steps' user and no configuration. */
const versionOf = async (path: string, user: StepUser | null): Promise<string | null> => {
  const env = { PATH: process.env.PATH, HOME: "/nonexistent", MISE_SAFE: "1", MISE_NO_CONFIG: "1" };
  const asked = promisify(execFile)(path, ["--version"], { cwd: "/", env, timeout: 20_000, ...runAs(user) });
  const { stdout } = await asked.catch(() => ({ stdout: "" }));
  return VERSION.exec(stdout.trim())?.[1] ?? null;
};

const installedMise = async (given: string | null, user: StepUser | null): Promise<MiseProgram> => {
  const path = given ?? (await findProgram("mise", user).catch(() => null));
  if (path === null) throw fail(`this agent has no mise: ${ADVICE}`);
  const version = await versionOf(path, user);
  if (version === null) throw fail(`${path} cannot be run, or is not mise: ${ADVICE}`);
  if (!isRecentEnough(version)) throw fail(`${path} is mise ${version}, which is too old: ${ADVICE}`);
  return { path, note: `mise ${version} of this machine, not checked by a hash` };
};

/**
 * The program that sets up tools. One of the agent's own folder, which the steps' user cannot enter, is linked into
 * `beside`. @throws BuildFailure
 */
export const findMise = async (
  { folder, mise, registry }: ToolSources,
  beside: string,
  user: StepUser | null,
  signal: AbortSignal,
): Promise<MiseProgram> => {
  if (mise !== null || !isKnownMachine()) return installedMise(mise, user);
  const { path, isNew } = await downloadedMise(folder, registry, signal);
  const note = isNew ? `mise ${MISE_VERSION} was fetched, and its checksum is right` : null;
  if (user === null) return { path, note };
  const linked = join(beside, "mise");
  try {
    linkSync(path, linked);
  } catch {
    copyFileSync(path, linked);
  }
  return { path: linked, note };
};
