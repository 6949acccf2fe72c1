import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cloneUrlProblem } from "../../domain/clone-url.ts";
import { branchProblem } from "../../domain/git-ref.ts";
import type { Checkout } from "../../pipeline/parse/plan.ts";
import type { Job } from "../../protocol/jobs.ts";
import { ConfigPath } from "../../protocol/pipeline.ts";
import { BuildFailure } from "../build/failure.ts";
import type { ProcessTree } from "../process/process-tree.ts";
import { type CommitWithFile, readCommit } from "./commit-file.ts";
import { knownDate, setCommitTimes } from "./commit-times.ts";
import { type GitContext, git } from "./git.ts";
import { ObjectReader } from "./object-reader.ts";
import {
  addOrigin,
  ensureSuccess,
  fetchRefspecs,
  gitWithCredential,
  INFINITE_DEPTH,
  initRepository,
  type Remote,
} from "./remote.ts";

/** Committers' clocks differ, so the first search starts this many seconds before the commit's own date. */
const CLOCK_SKEW_SECONDS = 86_400;

/** The filter to fetch commits without trees and files. Servers without partial clone ignore or reject it. */
const COMMITS_ONLY = "--filter=tree:0";

/** Reports whether a commit is the ref's commit or its ancestor, within the fetched history. */
const isAncestor = async ({ gitContext }: Remote, commit: string, ref: string): Promise<boolean> =>
  // Allow no protocol: git would fetch the objects that a filter omitted.
  (await git({ ...gitContext, protocols: [] }, ["merge-base", "--is-ancestor", commit, ref])).code === 0;

/**
 * Reports whether the commit is in the history of the host's branch. Fetches only commits where the host supports that,
 * and first only those since `committedAt` (seconds), if known.
 * @throws BuildFailure when the history cannot be fetched
 */
const isOnBranch = async (
  remote: Remote,
  ref: string,
  commit: string,
  committedAt: number | null,
): Promise<boolean> => {
  const everything = `--depth=${INFINITE_DEPTH}`;
  if (committedAt !== null) {
    const since = new Date(Math.max(committedAt - CLOCK_SKEW_SECONDS, 0) * 1000).toISOString();
    if ((await searchHistory(remote, ref, commit, [COMMITS_ONLY, `--shallow-since=${since}`])).isFound) return true;
  }
  const { output, isFound } = await searchHistory(remote, ref, commit, [COMMITS_ONLY, everything]);
  if (output.code === 0) return isFound;
  const whole = await searchHistory(remote, ref, commit, [everything]);
  ensureSuccess(whole.output, "git fetch", remote);
  return whole.isFound;
};

/**
 * Searches in a new repository each time, because a repository would keep fetching missing objects after a filtered
 * fetch.
 */
const searchHistory = async ({ gitContext, ...rest }: Remote, ref: string, commit: string, range: string[]) => {
  const folder = mkdtempSync(join(rest.tempFolder, "history-"));
  const history: Remote = { ...rest, gitContext: { ...gitContext, folder } };
  try {
    await initRepository(folder, commit.length === 64 ? "sha256" : "sha1");
    addOrigin(history);
    const output = await fetchRefspecs(history, [...range, "--no-tags"], [`+${ref}:refs/tip`]);
    return { output, isFound: output.code === 0 && (await isAncestor(history, commit, "refs/tip")) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** A fetched repository with a known commit. Its files are not on disk yet. */
export interface Fetched extends CommitWithFile {
  gitContext: GitContext;
  /** Reads the commit. The agent closes it before any code of the repository runs. */
  objects: ObjectReader;
  /** The fetched refspecs. */
  refspecs: string[];
}

export interface CheckoutSource {
  branch: string;
  commitSha: string | null;
  repository: Job["repository"];
  /** The file to read together with the commit. */
  configPath: string;
}

export interface CheckoutContext {
  /** The future workspace: an empty repository. */
  workspace: string;
  /** The build's folder, which holds a command's temporary files. Steps cannot read it. */
  tempFolder: string;
  tree: ProcessTree;
  signal?: AbortSignal;
}

/** Depths to fetch until they include the commit, for hosts that do not serve commits by hash. */
const DEEPER_DEPTHS = [100, INFINITE_DEPTH];

/** Writes the files' committed bytes. The commit's .gitattributes applies, and the user's settings do not. */
const AS_COMMITTED = ["core.attributesFile=/dev/null", "core.autocrlf=false", "core.eol=lf"];

/** Returns the protocols that git may use: https and ssh, plus file or http if the clone URL uses it. */
export const protocolsFor = (cloneUrl: string): string[] => {
  const scheme = /^(file|http):/.exec(cloneUrl)?.[1];
  return scheme ? ["https", "ssh", scheme] : ["https", "ssh"];
};

const remoteRef = (branch: string): string => (branch.startsWith("refs/") ? branch : `refs/heads/${branch}`);
const localRef = (branch: string): string => (branch.startsWith("refs/") ? branch : `refs/remotes/origin/${branch}`);

/** Describes the repository at its host, as git fetches it. */
export const toRemote = (
  { repository: { cloneUrl, credential = null } }: CheckoutSource,
  { workspace: folder, tempFolder, tree, signal }: CheckoutContext,
): Remote => ({
  gitContext: { folder, protocols: protocolsFor(cloneUrl), tree, signal },
  cloneUrl,
  credential,
  tempFolder,
});

/**
 * Fetches the branch into the prepared repository and finds the commit to build.
 * @throws BuildFailure checkout-failed with git's message, commit-not-on-branch, or pipeline-invalid
 */
export const fetchSource = async (source: CheckoutSource, context: CheckoutContext): Promise<Fetched> => {
  const { commitSha, branch, configPath, repository } = source;
  const remote = toRemote(source, context);
  const { gitContext } = remote;
  const wrong = cloneUrlProblem(repository.cloneUrl, gitContext.protocols) ?? branchProblem(branch);
  if (wrong) throw new BuildFailure("checkout-failed", `invalid clone URL or branch: ${wrong}`);
  if (!ConfigPath.safeParse(configPath).success)
    throw new BuildFailure("pipeline-invalid", "the pipeline's configPath must be a path inside the repository");
  addOrigin(remote);
  const objects = new ObjectReader(gitContext);
  try {
    const refspecs = await fetchCommit(remote, source, objects);
    const commit = await readCommit(objects, commitSha ?? localRef(branch), configPath);
    return { ...commit, gitContext, objects, refspecs };
  } catch (error) {
    await objects.close();
    throw error;
  }
};

/** Fetches the branch's newest commit and the wanted one, without history. @returns the fetched refspecs */
const fetchCommit = async (remote: Remote, source: CheckoutSource, objects: ObjectReader): Promise<string[]> => {
  const { commitSha, branch } = source;
  const head = `+${remoteRef(branch)}:${localRef(branch)}`;
  const shallow = ["--depth=1", "--no-tags"];
  if (commitSha === null) {
    ensureSuccess(await fetchRefspecs(remote, shallow, [head]), "git fetch", remote);
    return [head];
  }
  const both = await fetchRefspecs(remote, shallow, [head, commitSha]);
  const isServedByHash = both.code === 0;
  if (!isServedByHash) {
    // A host's message about a commit that it lacks or does not serve contains the commit's hash.
    if (!both.stderr.includes(commitSha)) ensureSuccess(both, "git fetch", remote);
    ensureSuccess(await fetchRefspecs(remote, shallow, [head]), "git fetch", remote);
  }
  if (!(await isNewest(objects, source)) && !(await isAncestor(remote, commitSha, localRef(branch)))) {
    await ensureOnBranch(remote, source, commitSha, isServedByHash);
    if (!isServedByHash) await deepenTo(remote, commitSha, head);
  }
  return isServedByHash ? [head, commitSha] : [head];
};

/**
 * Reports whether the wanted commit is the branch's newest, the usual case. Git need not search for the commit then.
 */
const isNewest = async (objects: ObjectReader, { branch, commitSha }: CheckoutSource): Promise<boolean> =>
  (await objects.read(`${localRef(branch)}^{commit}`, 0))?.hash === commitSha;

/** Requires a commit of the branch itself, because hosts also serve commits of forks by hash. */
const ensureOnBranch = async (
  remote: Remote,
  { branch, repository }: CheckoutSource,
  commitSha: string,
  isFetched: boolean,
): Promise<void> => {
  const listed = isFetched
    ? await git(remote.gitContext, ["rev-list", "--max-count=1", "--timestamp", commitSha, "--"])
    : null;
  const [committedAt, commit = commitSha] = listed?.stdout.toString("latin1").trim().split(" ") ?? [];
  if (await isOnBranch(remote, remoteRef(branch), commit, knownDate(committedAt))) return;
  throw new BuildFailure(
    "commit-not-on-branch",
    `commit ${commitSha} is not on ${branch} of ${repository.fullName}: push it there, or build the branch that contains it`,
  );
};

const deepenTo = async (remote: Remote, commitSha: string, head: string): Promise<void> => {
  for (const depth of DEEPER_DEPTHS) {
    ensureSuccess(await fetchRefspecs(remote, [`--depth=${depth}`, "--no-tags"], [head]), "git fetch", remote);
    if ((await git(remote.gitContext, ["cat-file", "-e", commitSha])).code === 0) return;
  }
};

/** Jobs with the whole history compare with other branches in it, such as `origin/main` for a pull request. */
const ALL_BRANCHES = "+refs/heads/*:refs/remotes/origin/*";

/** Writes the commit's files into the workspace. Git does not run again in this build afterwards. */
export const checkOut = async (
  source: CheckoutSource,
  { commitSha, refspecs }: Fetched,
  context: CheckoutContext,
  checkout: Checkout,
): Promise<void> => {
  const { depth, fetchTags, submodules, lfs, mtimes } = checkout;
  const plain = toRemote(source, context);
  const remote = { ...plain, gitContext: { ...plain.gitContext, settings: AS_COMMITTED } };
  if (depth !== 1 || fetchTags) {
    const range = [`--depth=${depth || INFINITE_DEPTH}`, fetchTags ? "--tags" : "--no-tags"];
    const wanted = depth === 0 ? [...refspecs, ALL_BRANCHES] : refspecs;
    ensureSuccess(await fetchRefspecs(remote, range, wanted), "git fetch", remote);
  }
  const args = ["checkout", "--quiet", "--force", "--detach", commitSha];
  ensureSuccess(await git(remote.gitContext, args), "git checkout");
  if (submodules !== "none") await fetchSubmodules(remote, checkout);
  if (lfs) await fetchLfs(remote, checkout);
  if (mtimes) await setCommitTimes(remote, commitSha, refspecs);
};

const recursively = (kind: Checkout["submodules"]): string[] => (kind === "recursive" ? ["--recursive"] : []);

/** Git's message where a host has no shallow clones, or does not serve older commits that way. */
const NOT_SHALLOW = /does not support shallow|unadvertised object/;

/**
 * Fetches the submodules with `depth` commits of history, or all of it for 0, and writes their files. Where a host
 * cannot serve their commits this way, fetches the complete history, as for the repository.
 * @throws BuildFailure
 */
const fetchSubmodules = async (remote: Remote, { submodules, depth }: Checkout): Promise<void> => {
  const update = (range: string[]) =>
    gitWithCredential(remote, [
      "submodule",
      "--quiet",
      "update",
      "--init",
      "--force",
      "--no-recommend-shallow",
      ...[...range, ...recursively(submodules)],
    ]);
  let output = await update(depth === 0 ? [] : [`--depth=${depth}`]);
  if (depth !== 0 && NOT_SHALLOW.test(output.stderr)) {
    // Without this, an existing submodule would stay shallow.
    await git(remote.gitContext, ["submodule", "--quiet", "deinit", "--force", "--all"]);
    rmSync(join(remote.gitContext.folder, ".git/modules"), { recursive: true, force: true });
    output = await update([]);
  }
  ensureSuccess(output, "git submodule", remote);
};

/**
 * The commands for LFS. If the repository's and the user's settings lack its filters, LFS leaves its pointers and
 * reports success.
 */
const LFS = ["lfs install --local --skip-repo", "lfs pull"];

/** Fetches the LFS files of the commit and its checked-out submodules. @throws BuildFailure */
const fetchLfs = async (remote: Remote, { submodules }: Checkout): Promise<void> => {
  const run = async (args: string[]) => ensureSuccess(await gitWithCredential(remote, args), "git lfs pull", remote);
  for (const command of LFS) await run(command.split(" "));
  const inEach = LFS.map((command) => `git ${command}`).join(" && ");
  if (submodules !== "none") await run(["submodule", "--quiet", "foreach", ...recursively(submodules), inEach]);
};
