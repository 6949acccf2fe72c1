import { cloneUrlProblem } from "../../domain/clone-url.ts";
import { branchProblem } from "../../domain/git-ref.ts";
import type { Checkout } from "../../domain/plan/plan.ts";
import type { Job } from "../../protocol/jobs.ts";
import { ConfigPath } from "../../protocol/pipeline.ts";
import { BuildFailure } from "../failure.ts";
import type { ProcessTree } from "../process/process-tree.ts";
import { type CommitWithFile, readCommit } from "./commit-file.ts";
import { isAncestor, isOnBranch } from "./commit-on-branch.ts";
import { type GitContext, git } from "./git.ts";
import { addOrigin, ensureSuccess, fetchWanted, gitWithCredential, INFINITE_DEPTH, type Remote } from "./remote.ts";

/** A repository that has been fetched and whose commit is known, but none of whose files is on disk yet. */
export interface Fetched extends CommitWithFile {
  context: GitContext;
  /** What was asked of the host. */
  wanted: string[];
}

export interface CheckoutSource {
  branch: string;
  commitSha: string | null;
  repository: Job["repository"];
  /** The file that is read along with the commit. */
  configPath: string;
}

export interface CheckoutContext {
  /** The folder that becomes the workspace, so far an empty repository. */
  workspace: string;
  /** The build's own folder, outside the workspace, for files that live as long as one command. */
  tempFolder: string;
  tree: ProcessTree;
  signal?: AbortSignal;
}

/** Depths of a branch's history fetched until it has the commit, where a host does not give commits by their hash. */
const DEEPER_DEPTHS = [100, INFINITE_DEPTH];

/** https and ssh always; file and http only where the service handed out such an address. */
export const protocolsFor = (cloneUrl: string): string[] => {
  const scheme = /^(file|http):/.exec(cloneUrl)?.[1];
  return scheme ? ["https", "ssh", scheme] : ["https", "ssh"];
};

const remoteRef = (branch: string): string => (branch.startsWith("refs/") ? branch : `refs/heads/${branch}`);
const localRef = (branch: string): string => (branch.startsWith("refs/") ? branch : `refs/remotes/origin/${branch}`);

const remoteOf = ({ repository: { cloneUrl, credential = null } }: CheckoutSource, at: CheckoutContext): Remote => {
  const { workspace: folder, tree, signal } = at;
  return {
    context: { folder, protocols: protocolsFor(cloneUrl), tree, signal },
    cloneUrl,
    credential,
    tempFolder: at.tempFolder,
  };
};

/**
 * Fetches the branch into the prepared repository and settles which commit is built.
 * @throws BuildFailure checkout-failed with git's own words, or commit-not-on-branch.
 */
export const fetchSource = async (source: CheckoutSource, at: CheckoutContext): Promise<Fetched> => {
  const { commitSha, branch, configPath, repository } = source;
  const remote = remoteOf(source, at);
  const { context } = remote;
  const wrong = cloneUrlProblem(repository.cloneUrl, context.protocols) ?? branchProblem(branch);
  if (wrong) throw new BuildFailure("checkout-failed", `the clone address or branch is not usable: ${wrong}`);
  if (!ConfigPath.safeParse(configPath).success)
    throw new BuildFailure("pipeline-invalid", "the pipeline's configPath is no path inside the repository");
  addOrigin(remote);
  const wanted = await fetchCommit(remote, source);
  return { ...(await readCommit(context, commitSha ?? localRef(branch), configPath)), context, wanted };
};

/** The newest commit of each thing wanted, and nothing of its history. @returns what the host was asked for */
const fetchCommit = async (remote: Remote, source: CheckoutSource): Promise<string[]> => {
  const { commitSha, branch } = source;
  const head = `+${remoteRef(branch)}:${localRef(branch)}`;
  const shallow = ["--depth=1", "--no-tags"];
  if (commitSha === null) {
    ensureSuccess(await fetchWanted(remote, shallow, [head]), "git fetch", remote);
    return [head];
  }
  const both = await fetchWanted(remote, shallow, [head, commitSha]);
  const isGivenByHash = both.code === 0;
  if (!isGivenByHash) {
    // A host that has no such commit, or does not give it, says its hash.
    if (!both.stderr.includes(commitSha)) ensureSuccess(both, "git fetch", remote);
    ensureSuccess(await fetchWanted(remote, shallow, [head]), "git fetch", remote);
  }
  if (!(await isAncestor(remote, commitSha, localRef(branch)))) {
    await mustBeOnBranch(remote, source, commitSha, isGivenByHash);
    if (!isGivenByHash) await deepenTo(remote, commitSha, head);
  }
  return isGivenByHash ? [head, commitSha] : [head];
};

/** Hosts serve the commits of forks by their hash too: only what the branch itself contains may be built. */
const mustBeOnBranch = async (
  remote: Remote,
  { branch, repository }: CheckoutSource,
  commitSha: string,
  isHere: boolean,
): Promise<void> => {
  const shown = isHere
    ? await git(remote.context, ["show", "--no-patch", "--format=%H %ct", `${commitSha}^{commit}`])
    : null;
  const [commit = commitSha, madeAt] = shown?.stdout.toString("latin1").trim().split(" ") ?? [];
  if (await isOnBranch(remote, remoteRef(branch), commit, madeAt === undefined ? null : Number(madeAt))) return;
  throw new BuildFailure(
    "commit-not-on-branch",
    `commit ${commitSha} is not on ${branch} of ${repository.fullName}: push it there, or build the branch that has it`,
  );
};

const deepenTo = async (remote: Remote, commitSha: string, head: string): Promise<void> => {
  for (const depth of DEEPER_DEPTHS) {
    ensureSuccess(await fetchWanted(remote, [`--depth=${depth}`, "--no-tags"], [head]), "git fetch", remote);
    if ((await git(remote.context, ["cat-file", "-e", commitSha])).code === 0) return;
  }
};

/** Writes the commit's files into the workspace; the last of git before a step runs. */
export const checkOut = async (
  source: CheckoutSource,
  { commitSha, context, wanted }: Fetched,
  at: CheckoutContext,
  { depth, fetchTags, submodules, lfs }: Checkout,
): Promise<void> => {
  const remote = remoteOf(source, at);
  const ask = async (args: string[], doing: string) =>
    ensureSuccess(await gitWithCredential(remote, args), doing, remote);
  if (depth !== 1 || fetchTags) {
    const range = [`--depth=${depth || INFINITE_DEPTH}`, fetchTags ? "--tags" : "--no-tags"];
    ensureSuccess(await fetchWanted(remote, range, wanted), "git fetch", remote);
  }
  ensureSuccess(await git(context, ["checkout", "--quiet", "--force", "--detach", commitSha]), "git checkout");
  if (submodules !== "none") {
    const recursive = submodules === "recursive" ? ["--recursive"] : [];
    await ask(["submodule", "--quiet", "update", "--init", "--force", "--depth=1", ...recursive], "git submodule");
  }
  if (lfs) await ask(["lfs", "pull"], "git lfs pull");
};
