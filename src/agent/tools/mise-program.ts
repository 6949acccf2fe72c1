import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, existsSync, linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { GIB, MIB, MINUTE_MS, SECOND_MS } from "../../protocol/units.ts";
import { BuildFailure } from "../build/failure.ts";
import { findProgram, runAs, type StepUser } from "../process/step-user.ts";
import { isRecentEnough, MISE_PACKAGE, MISE_VERSION } from "./mise-release.ts";

/* Reads one file from a tarball in memory (POSIX ustar, pax(1)). Unpacks nothing else. */

const BLOCK = 512;

const textAt = (block: Buffer, start: number, length: number): string => {
  const field = block.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end < 0 ? length : end);
};

/** Returns the content of the regular file `name`; null if the tarball has no such file. */
export const tarMember = (tar: Buffer, name: string): Buffer | null => {
  for (let at = 0; at + BLOCK <= tar.length; ) {
    const header = tar.subarray(at, at + BLOCK);
    const size = Number.parseInt(textAt(header, 124, 12).trim(), 8);
    if (!Number.isSafeInteger(size) || size < 0) return null;
    const content = at + BLOCK;
    const isFile = header[156] === 0 || header[156] === 0x30;
    if (isFile && textAt(header, 0, 100) === name)
      return content + size <= tar.length ? tar.subarray(content, content + size) : null;
    at = content + Math.ceil(size / BLOCK) * BLOCK;
  }
  return null;
};

const PACKAGE_LIMIT = 256 * MIB;
const PROGRAM_LIMIT = GIB;
const DOWNLOAD_MS = 5 * MINUTE_MS;

const addressIn = (registry: string): string =>
  new URL(`${MISE_PACKAGE.name}/-/${MISE_PACKAGE.file}`, registry.endsWith("/") ? registry : `${registry}/`).href;

/** Removes a possible password from an address. */
const withoutCredentials = (address: string): string => {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
};

/** Fetches the package. @throws BuildFailure for a wrong answer or no answer */
const fetchPackage = async (address: string, signal: AbortSignal): Promise<Buffer> => {
  try {
    const response = await fetch(address, { signal: AbortSignal.any([signal, AbortSignal.timeout(DOWNLOAD_MS)]) });
    if (!response.ok) throw fail(`${withoutCredentials(address)} answered with ${response.status}`);
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of response.body ?? []) {
      bytes += part.length;
      if (bytes > PACKAGE_LIMIT) throw fail(`${withoutCredentials(address)} is too large for a release of mise`);
      parts.push(part);
    }
    return Buffer.concat(parts);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof BuildFailure) throw error;
    const { cause } = error as Error;
    const why = (cause as NodeJS.ErrnoException | undefined)?.code ?? (error as Error).name;
    throw fail(`${withoutCredentials(address)} is unreachable (${why}): the agent may be offline`);
  }
};

/** Verifies and unpacks the program. @throws BuildFailure unless the bytes match this agent's hash */
const programIn = async (tarball: Buffer, address: string): Promise<Buffer> => {
  if (createHash("sha512").update(tarball).digest("base64") !== MISE_PACKAGE.sha512)
    throw fail(`${withoutCredentials(address)} is not mise ${MISE_VERSION}: its checksum differs, so it was not run`);
  const tar = await promisify(gunzip)(tarball, { maxOutputLength: PROGRAM_LIMIT });
  const program = tarMember(tar, MISE_PACKAGE.member);
  if (!program) throw fail(`${withoutCredentials(address)} has no ${MISE_PACKAGE.member}`);
  return program;
};

/**
 * Returns mise's path in the agent's own folder, and fetches mise from `registry` when the agent first needs it. Writes
 * a file beside the path and renames it, so that the path only ever holds a verified program.
 * @throws BuildFailure
 */
export const downloadedMise = async (
  folder: string,
  registry: string,
  signal: AbortSignal,
): Promise<{ path: string; isNew: boolean }> => {
  const path = join(folder, `mise-${MISE_VERSION}`, "mise");
  if (existsSync(path)) return { path, isNew: false };
  const address = addressIn(registry);
  const program = await programIn(await fetchPackage(address, signal), address);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${process.pid}`;
  rmSync(fresh, { force: true });
  writeFileSync(fresh, program, { flag: "wx", mode: 0o755 });
  // Ignore the umask, because the steps' user runs the program.
  chmodSync(fresh, 0o755);
  renameSync(fresh, path);
  return { path, isNew: true };
};

/** The sources of mise, and the folder for the tools' files. */
export interface ToolSources {
  /** The agent's own folder. */
  folder: string;
  /** A program chosen by the machine's owner. */
  mise: string | null;
  /** The address of npm's registry, or of a registry with the same packages. */
  registry: string;
  /** Maximum bytes of installed tools that the agent keeps for later builds. */
  quotaBytes: number;
}

interface MiseProgram {
  path: string;
  /** A line for the log. */
  note: string | null;
}

const ADVICE = `install mise ${MISE_VERSION} or newer (https://mise.jdx.dev), or start the agent with --mise PATH`;
const fail = (message: string): BuildFailure => new BuildFailure("agent-error", `tools: ${message}`);

/** Reports whether the agent has mise's hash for this machine. */
const isKnownMachine = (): boolean => process.platform === "linux" && process.arch === "x64";

const VERSION = /^(?:mise )?(\d{4}\.\d{1,2}\.\d{1,3})\b/;

/** Returns the program's version. Runs it with the rights of the steps' user and no configuration. */
const readVersion = async (path: string, user: StepUser | null): Promise<string | null> => {
  const env = { PATH: process.env.PATH, HOME: "/nonexistent", MISE_SAFE: "1", MISE_NO_CONFIG: "1" };
  const answer = promisify(execFile)(path, ["--version"], { cwd: "/", env, timeout: 20 * SECOND_MS, ...runAs(user) });
  const { stdout } = await answer.catch(() => ({ stdout: "" }));
  return VERSION.exec(stdout.trim())?.[1] ?? null;
};

const installedMise = async (configured: string | null, user: StepUser | null): Promise<MiseProgram> => {
  const path = configured ?? (await findProgram("mise", user).catch(() => null));
  if (path === null) throw fail(`this agent has no mise: ${ADVICE}`);
  const version = await readVersion(path, user);
  if (version === null) throw fail(`${path} cannot run, or is not mise: ${ADVICE}`);
  if (!isRecentEnough(version)) throw fail(`${path} is mise ${version}, which is too old: ${ADVICE}`);
  return { path, note: `mise ${version} from this machine, checksum not verified` };
};

/**
 * Finds the program that sets up tools. Links the agent's own program into `beside`, because the steps' user cannot
 * enter the agent's folder.
 * @throws BuildFailure
 */
export const findMise = async (
  { folder, mise, registry }: ToolSources,
  beside: string,
  user: StepUser | null,
  signal: AbortSignal,
): Promise<MiseProgram> => {
  if (mise !== null || !isKnownMachine()) return installedMise(mise, user);
  const { path, isNew } = await downloadedMise(folder, registry, signal);
  const note = isNew ? `mise ${MISE_VERSION} downloaded, checksum verified` : null;
  if (user === null) return { path, note };
  const linked = join(beside, "mise");
  try {
    linkSync(path, linked);
  } catch {
    copyFileSync(path, linked);
  }
  return { path: linked, note };
};
