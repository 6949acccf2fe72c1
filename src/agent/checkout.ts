import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cloneUrlProblem } from "../domain/clone-url.ts";
import { branchProblem } from "../domain/git-ref.ts";
import type { Checkout } from "../domain/plan/plan.ts";
import type { Job } from "../protocol/jobs.ts";
import { ConfigPath } from "../protocol/pipeline.ts";
import { withCredential } from "./clone-credential.ts";
import { type CommitWithFile, readCommit } from "./commit-file.ts";
import { BuildFailure } from "./failure.ts";
import { type GitOutput, type GitPlace, git } from "./git.ts";
import { gitTrouble } from "./git-trouble.ts";
import { ProcessTree } from "./process-tree.ts";

/** A repository that has been fetched and whose commit is known, but none of whose files is on disk yet. */
export interface Fetched extends CommitWithFile {
  place: GitPlace;
}

export interface Source {
  branch: string;
  commitSha: string | null;
  repository: Job["repository"];
  /** The file that is read along with the commit. */
  configPath: string;
}

export interface Surroundings {
  /** The folder that becomes the workspace, so far an empty repository. */
  workspace: string;
  /** The build's own folder, outside the workspace, for files that live as long as one command. */
  private: string;
  tree: ProcessTree;
  signal?: AbortSignal;
}

/** Depths of history looked through for a commit that is not the branch's head; 0 is all of it. */
const DEEPER = [100, 0];

/** https and ssh always; file and http only where the service handed out such an address. */
export const protocolsFor = (cloneUrl: string): string[] => {
  const scheme = /^(file|http):/.exec(cloneUrl)?.[1];
  return scheme ? ["https", "ssh", scheme] : ["https", "ssh"];
};

const remoteRef = (branch: string): string => (branch.startsWith("refs/") ? branch : `refs/heads/${branch}`);
const localRef = (branch: string): string => (branch.startsWith("refs/") ? branch : `refs/remotes/origin/${branch}`);

const remoteSection = (url: string): string => {
  const escaped = url.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  return `[remote "origin"]\n\turl = "${escaped}"\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`;
};

const must = (output: GitOutput, doing: string): GitOutput => {
  if (output.code !== 0) throw gitTrouble(doing, output.stderr);
  return output;
};

/** An empty repository in an empty folder. It needs nothing of the build, so it can be made before there is one. */
export const makeRepository = async (folder: string): Promise<void> => {
  const place: GitPlace = { folder, protocols: [], tree: new ProcessTree("prepare") };
  must(await git(place, ["init", "--quiet", "--template=", "."]), "git init");
};

/**
 * Fetches the branch into the prepared repository and settles which commit is built.
 * @throws BuildFailure checkout-failed with git's own words, or commit-not-on-branch.
 */
export const fetchSource = async (source: Source, at: Surroundings): Promise<Fetched> => {
  const { cloneUrl } = source.repository;
  const protocols = protocolsFor(cloneUrl);
  const wrong = cloneUrlProblem(cloneUrl, protocols) ?? branchProblem(source.branch);
  if (wrong) throw new BuildFailure("checkout-failed", `the clone address or branch is not usable: ${wrong}`);
  if (!ConfigPath.safeParse(source.configPath).success)
    throw new BuildFailure("pipeline-invalid", "the pipeline's configPath is no path inside the repository");
  const place: GitPlace = { folder: at.workspace, protocols, tree: at.tree, signal: at.signal };
  appendFileSync(join(at.workspace, ".git/config"), remoteSection(cloneUrl));
  await fetchDepth(source, place, at, 1);
  const head = await readCommit(place, localRef(source.branch), source.configPath);
  if (source.commitSha === null || source.commitSha === head.commitSha) return { ...head, place };
  await proveOnBranch(source, place, at, source.commitSha);
  return { ...(await readCommit(place, source.commitSha, source.configPath)), place };
};

/** The host's repository names its objects by SHA-256, which an empty one must have been made for. */
const remakeRepository = async (place: GitPlace, cloneUrl: string): Promise<void> => {
  const folder = join(place.folder, ".git");
  rmSync(folder, { recursive: true });
  must(await git(place, ["init", "--quiet", "--template=", "--object-format=sha256", "."]), "git init");
  appendFileSync(join(folder, "config"), remoteSection(cloneUrl));
};

/** `depth` 0 fetches all history. Servers of the old, plain HTTP kind have no shallow clones. */
const fetchDepth = async (
  source: Source,
  place: GitPlace,
  at: Surroundings,
  depth: number,
  tags = false,
): Promise<void> => {
  const refspecs = [`+${remoteRef(source.branch)}:${localRef(source.branch)}`];
  const run = (range: string[]): Promise<GitOutput> =>
    withCredential(source.repository.credential ?? null, source.repository.cloneUrl, at.private, (extra) =>
      git(
        place,
        [
          "fetch",
          "--quiet",
          "--force",
          "--no-auto-maintenance",
          tags ? "--tags" : "--no-tags",
          ...range,
          "--",
          "origin",
          ...refspecs,
        ],
        extra,
      ),
    );
  const range = depth === 0 ? ["--unshallow"] : [`--depth=${depth}`];
  let output = await run(range);
  if (output.code !== 0 && /mismatched algorithms/.test(output.stderr)) {
    await remakeRepository(place, source.repository.cloneUrl);
    output = await run(range);
  }
  if (output.code !== 0 && /shallow/.test(output.stderr)) must(await run([]), "git fetch");
  else must(output, "git fetch");
};

/** Hosts serve the commits of forks by their hash too: only what the branch itself contains may be built. */
const proveOnBranch = async (source: Source, place: GitPlace, at: Surroundings, commitSha: string): Promise<void> => {
  for (const depth of DEEPER) {
    await fetchDepth(source, place, at, depth);
    const { code } = await git(place, ["merge-base", "--is-ancestor", commitSha, localRef(source.branch)]);
    if (code === 0) return;
  }
  throw new BuildFailure(
    "commit-not-on-branch",
    `commit ${commitSha} is not on ${source.branch} of ${source.repository.fullName}: push it there, or build the branch that has it`,
  );
};

/** Writes the commit's files into the workspace; the last of git before a step runs. */
export const checkOut = async (
  source: Source,
  { commitSha, place }: Fetched,
  at: Surroundings,
  options: Checkout,
): Promise<void> => {
  if (options.depth !== 1 || options.fetchTags) await fetchDepth(source, place, at, options.depth, options.fetchTags);
  must(await git(place, ["checkout", "--quiet", "--force", "--detach", commitSha]), "git checkout");
  const withHost = (args: string[], doing: string): Promise<GitOutput> =>
    withCredential(source.repository.credential ?? null, source.repository.cloneUrl, at.private, async (extra) =>
      must(await git(place, args, extra), doing),
    );
  if (options.submodules !== "none") {
    const recursive = options.submodules === "recursive" ? ["--recursive"] : [];
    await withHost(["submodule", "--quiet", "update", "--init", "--force", "--depth=1", ...recursive], "git submodule");
  }
  if (options.lfs) await withHost(["lfs", "pull"], "git lfs pull");
};
