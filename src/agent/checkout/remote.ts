import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Job } from "../../protocol/jobs.ts";
import { ProcessTree } from "../process/process-tree.ts";
import { withCredential } from "./clone-credential.ts";
import { type GitContext, type GitOutput, git } from "./git.ts";
import { gitFailure } from "./git-failure.ts";

/** A repository at its host, and the folder on this machine that takes what is fetched of it. */
export interface Remote {
  context: GitContext;
  cloneUrl: string;
  credential: NonNullable<Job["repository"]["credential"]> | null;
  /** A folder of this build's that no step sees, for files that live as long as one command. */
  tempFolder: string;
}

export type ObjectFormat = "sha1" | "sha256";

/** @throws BuildFailure with git's own words when it failed. */
export const ensureSuccess = (output: GitOutput, doing: string, remote?: Remote): GitOutput => {
  if (output.code !== 0) throw gitFailure(doing, output.stderr, remote?.credential?.kind ?? null);
  return output;
};

/** An empty repository in an empty folder. It needs nothing of the build, so it can be made before there is one. */
export const initRepository = async (folder: string, format: ObjectFormat = "sha1"): Promise<void> => {
  const place: GitContext = { folder, protocols: [], tree: new ProcessTree("prepare") };
  const options = ["--quiet", "--template=", ...(format === "sha1" ? [] : [`--object-format=${format}`])];
  ensureSuccess(await git(place, ["init", ...options, "."]), "git init");
};

/** Tells the empty repository where it comes from. */
export const addOrigin = ({ context, cloneUrl }: Remote): void => {
  const url = cloneUrl.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  const section = `[remote "origin"]\n\turl = "${url}"\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`;
  appendFileSync(join(context.folder, ".git/config"), section);
};

/** The host's repository names its objects by SHA-256, which an empty one must have been made for. */
const remakeForSha256 = async (remote: Remote): Promise<void> => {
  rmSync(join(remote.context.folder, ".git"), { recursive: true });
  await initRepository(remote.context.folder, "sha256");
  addOrigin(remote);
};

/** Runs a git command that may have to show the host the clone credential. */
export const gitWithCredential = (
  { context, cloneUrl, credential, ...remote }: Remote,
  args: string[],
): Promise<GitOutput> => withCredential(credential, cloneUrl, remote.tempFolder, (extra) => git(context, args, extra));

/** All of history, as `--depth` has it; unlike `--unshallow` it holds for a whole repository too. */
export const INFINITE_DEPTH = 2_147_483_647;

/** One `git fetch` of `wanted`. Servers of the old, plain HTTP kind have no shallow clones: they give all there is. */
export const fetchWanted = async (remote: Remote, range: string[], wanted: string[]): Promise<GitOutput> => {
  const run = (options: string[]): Promise<GitOutput> =>
    gitWithCredential(remote, [
      "fetch",
      "--quiet",
      "--force",
      "--no-auto-maintenance",
      ...options,
      "--",
      "origin",
      ...wanted,
    ]);
  const output = await run(range);
  if (output.code === 0) return output;
  if (/mismatched algorithms/.test(output.stderr)) {
    await remakeForSha256(remote);
    return run(range);
  }
  const isShallow = (option: string): boolean => option.startsWith("--depth=");
  const mayHaveAll = range.some(isShallow) && !range.some((option) => option.startsWith("--filter="));
  return mayHaveAll && /shallow/.test(output.stderr) ? run(range.filter((option) => !isShallow(option))) : output;
};
