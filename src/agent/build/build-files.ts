import { join } from "node:path";
import { bytesOfFile } from "../../domain/variable-value.ts";
import { fileNameProblem } from "../../protocol/variable.ts";
import { type CommandResult, runShell, type StepUser } from "../process/step-user.ts";
import type { JobAnswer } from "../wire/answers.ts";
import type { BuildFolder } from "./build-folder.ts";
import { BuildFailure } from "./failure.ts";

/**
 * `set -C` opens with O_EXCL, which follows no link (POSIX, open). The folder is new as well, and anything already at
 * its path stays unchanged.
 */
const WRITE_SCRIPT = 'umask 077; set -C; mkdir -- "$1" && cat > "$1/$2"';

/**
 * Creates a folder (0700) with one file (0600) in a process of the user. Without a user, the process runs as the
 * agent's user. The bytes are never in an argument or environment. Never rejects.
 */
const writeInNewFolder = (
  user: StepUser | null,
  folder: string,
  name: string,
  bytes: Uint8Array,
): Promise<CommandResult> => runShell(user, WRITE_SCRIPT, [folder, name], bytes);

/** A file behind a build's variable. */
export interface BuildFile {
  key: string;
  name: string;
  bytes: Uint8Array;
}

/**
 * Writes each file into its own folder, which only the steps' user can enter.
 * @returns the paths by variable name
 * @throws BuildFailure agent-error, whose message quotes nothing from the files
 */
export const writeFiles = async (
  files: BuildFile[],
  { files: folder }: Pick<BuildFolder, "files">,
  user: StepUser | null,
): Promise<Record<string, string>> => {
  const paths: [string, string][] = [];
  for (const [index, { key, name, bytes }] of files.entries()) {
    const own = join(folder, String(index + 1));
    const { code, stderr } = await writeInNewFolder(user, own, name, bytes);
    if (code !== 0) throw new BuildFailure("agent-error", `cannot write the file of ${key}: ${stderr.trim()}`);
    paths.push([key, join(own, name)]);
  }
  return Object.fromEntries(paths);
};

/** Converts a file to a file of the build. @throws BuildFailure environment for a file that this agent cannot write */
const toBuildFile = ([key, handed]: [string, NonNullable<JobAnswer["files"]>[string]]): BuildFile => {
  const { encoding, text, name = key } = handed;
  const problem = fileNameProblem(name);
  if (problem !== null) throw new BuildFailure("environment", `the file name of ${key} ${problem}`);
  if (encoding === "other")
    throw new BuildFailure("environment", `${key} has an encoding that this agent does not know: update the agent`);
  try {
    return { key, name, bytes: bytesOfFile({ encoding, text }) };
  } catch (error) {
    throw new BuildFailure("environment", `cannot create the file of ${key}: ${(error as Error).message}`);
  }
};

/** Returns the job with its files written and their paths in its environment. A path is not a secret. */
export const withFiles = async (job: JobAnswer, folder: BuildFolder, user: StepUser | null): Promise<JobAnswer> => {
  const { files = {}, ...rest } = job;
  if (Object.keys(files).length === 0) return job;
  const paths = await writeFiles(Object.entries(files).map(toBuildFile), folder, user);
  const secretKeys = job.secretKeys.filter((key) => !Object.hasOwn(paths, key));
  return { ...rest, env: { ...job.env, ...paths }, secretKeys };
};
