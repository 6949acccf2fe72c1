import { randomUUID } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { refOf } from "../../domain/git-ref.ts";
import type { JobContext } from "../../pipeline/prepare/job-context.ts";
import { fetchArtifacts } from "../artifacts/fetch-artifacts.ts";
import { ArtifactKeeper, keepAround } from "../artifacts/keep-artifacts.ts";
import type { LocalArtifacts, LocalJob } from "../artifacts/local-store.ts";
import { type BuildFile, writeFiles } from "../build/build-files.ts";
import { endAndRemoveBuild, makeBuildFolder } from "../build/build-folder.ts";
import { cancelAfter } from "../build/build-run.ts";
import { BuildFailure, Cancel } from "../build/failure.ts";
import { asksForChanges, type ComparedFiles } from "../build/job-facts.ts";
import type { PlanRead } from "../build/read-plan.ts";
import { type GitContext, git } from "../checkout/git.ts";
import { JobLog } from "../log/job-log.ts";
import { ProcessTree } from "../process/process-tree.ts";
import { reportAround } from "../reports/test-reporter.ts";
import { runSteps, type StepsResult } from "../steps/run-steps.ts";
import { buildVariables } from "../steps/step-environment.ts";
import type { ToolSources } from "../tools/mise-program.ts";
import type { ToolEnvironment } from "../tools/tool-environment.ts";
import { TOOL_FILE_BYTES, TOOL_FILES, toolsIn } from "../tools/tools-of-job.ts";
import { platformName } from "./capabilities.ts";

/** Possible refs of the origin's default branch. A repository without an origin may use one of the usual names. */
const DEFAULT_BRANCHES = [
  "refs/remotes/origin/HEAD",
  "refs/remotes/origin/main",
  "refs/remotes/origin/master",
  "refs/heads/main",
  "refs/heads/master",
];

const UNKNOWN: ComparedFiles = { base: null, files: null };

const NAMES = ["--name-only", "--no-renames", "--no-relative", "--no-ext-diff", "-z"];

const splitNames = (output: Buffer): string[] => output.toString("utf8").split("\0").slice(0, -1);

/**
 * Compares the folder's files with the merge base of HEAD and the default branch. Includes new files that git does not
 * ignore. The result is unknown without such a branch.
 */
export const localChanges = async (gitContext: GitContext): Promise<ComparedFiles> => {
  for (const branch of DEFAULT_BRANCHES) {
    const mergeBase = await git(gitContext, ["merge-base", branch, "HEAD"]);
    if (mergeBase.code !== 0) continue;
    const base = mergeBase.stdout.toString("latin1").trim();
    const [changed, added] = await Promise.all([
      git(gitContext, ["diff", ...NAMES, "--ignore-submodules=untracked", base, "--"]),
      git(gitContext, ["ls-files", "--others", "--exclude-standard", "--full-name", "-z", "--", ":/"]),
    ]);
    if (changed.code !== 0 || added.code !== 0) return UNKNOWN;
    return { base, files: [...splitNames(changed.stdout), ...splitNames(added.stdout)] };
  }
  return UNKNOWN;
};

export interface LocalFacts {
  /** Variables that nothing overrides. */
  fixed: Record<string, string>;
  facts: JobContext;
}

const LOCAL = "local";

/** Returns the facts. The folder needs no repository or commit. Without one, the facts contain "local" or null. */
export const localFacts = async (
  id: string,
  text: string,
  env: Record<string, string>,
  tree: ProcessTree,
): Promise<LocalFacts> => {
  const gitContext = { folder: process.cwd(), protocols: [], tree };
  const [head, commit, { base, files }] = await Promise.all([
    git(gitContext, ["symbolic-ref", "--quiet", "HEAD"]),
    git(gitContext, ["rev-parse", "HEAD"]),
    asksForChanges(text) ? localChanges(gitContext) : { base: null, files: null },
  ]);
  const commitSha = commit.code === 0 ? commit.stdout.toString("latin1").trim() : null;
  const ref = head.code === 0 ? head.stdout.toString("utf8").trim() : "HEAD";
  const branch = commitSha === null ? LOCAL : ref.replace(/^refs\/heads\//, "");
  const fullName = basename(process.cwd());
  const build = { id, number: 0, branch, ref: refOf(branch), event: LOCAL, tag: null, pull: null, schedule: null };
  const names = { build, repository: { fullName }, pipeline: { name: LOCAL } };
  const fixed = buildVariables(names, { commitSha, base }, LOCAL, "");
  const facts: JobContext = {
    env: { CI: "true", ...env, ...fixed },
    secretKeys: [],
    runKeys: Object.keys(env),
    build: { ...build, trusted: true, base, commit: commitSha, message: null, attempt: 1, trigger: LOCAL },
    changedFiles: files,
    repository: { id: "", fullName, cloneUrl: "" },
    agent: { id: "", name: LOCAL, platform: platformName() },
  };
  return { fixed, facts };
};

interface LocalTools {
  read: PlanRead;
  facts: JobContext;
  tree: ProcessTree;
  grace: number;
  signal: AbortSignal;
  log: JobLog;
  sources: ToolSources;
}

/** Returns this folder's files that name tools. */
const textsHere = (): Map<string, string> =>
  new Map(
    TOOL_FILES.flatMap((file) => {
      const stats = lstatSync(file, { throwIfNoEntry: false });
      if (!stats?.isFile()) return [];
      if (stats.size > TOOL_FILE_BYTES)
        throw new BuildFailure("pipeline-invalid", `${file} is larger than ${TOOL_FILE_BYTES} bytes`);
      return [[file, readFileSync(file, "utf8")] as const];
    }),
  );

/** Sets up tools for a run in this folder. All of this person's runs share the tools' folder. */
const localTools = ({ read, ...options }: LocalTools): Promise<ToolEnvironment> => {
  const { sources } = options;
  const folder = join(sources.folder, "local");
  const texts = read.plan.job.tools === null ? new Map<string, string>() : textsHere();
  return toolsIn({ ...options, ...read, user: null, store: null, texts, folder, root: folder });
};

interface LocalPlanOptions {
  read: PlanRead;
  readFacts: (tree: ProcessTree) => Promise<LocalFacts>;
  /** Variables of type file. */
  files: BuildFile[];
  toolSources: ToolSources;
  /** Milliseconds between SIGTERM and SIGKILL. */
  grace: number;
  signal: AbortSignal;
  /** Aborted when the steps that run after a cancel must stop too. */
  abandon: AbortSignal;
  artifacts: LocalArtifacts;
  job: LocalJob;
}

/** A plan's end in this folder: its steps' results, or the reason why they did not finish. */
export type LocalEnd =
  | { result: StepsResult; facts: JobContext; mask: (text: string) => string }
  | { result: null; error: BuildFailure | Cancel };

/** Runs one plan's steps in this folder, and ends all their processes. */
export const runPlan = async ({
  read,
  readFacts,
  files,
  toolSources: sources,
  grace,
  signal,
  abandon,
  artifacts,
  job,
}: LocalPlanOptions): Promise<LocalEnd> => {
  const { plan, file } = read;
  const cancel = new AbortController();
  const onSignal = (): void => cancel.abort(new Cancel("canceled"));
  signal.addEventListener("abort", onSignal, { once: true });
  if (signal.aborted) onSignal();
  const log = new JobLog([], standardOutput(), (error) => cancel.abort(error));
  const folder = await makeBuildFolder(tmpdir(), null);
  const tree = new ProcessTree(randomUUID(), { cgroup: folder.cgroup, folder: folder.path });
  const minutes = plan.job.timeoutMinutes;
  const deadline = minutes === null ? undefined : cancelAfter(minutes * 60, cancel);
  try {
    const { fixed, facts: ownFacts } = await readFacts(tree);
    const paths = await writeFiles(files, folder, null);
    const facts = { ...ownFacts, env: { ...ownFacts.env, ...paths, ...fixed } };
    const workspace = plan.job.checkout ? process.cwd() : folder.workspace;
    const place = { root: workspace, user: null, signal: cancel.signal };
    const store = artifacts(job, cancel.signal);
    const keeper = new ArtifactKeeper(place, store, log);
    // Artifacts replace files from earlier runs in this folder.
    await fetchArtifacts(plan.job.downloads, { place, store, log, replaces: true, isSkipped: () => false });
    const tools = await localTools({ read, facts, tree, grace, signal: cancel.signal, log, sources });
    const tests = {
      place,
      log,
      jobKey: job.key,
      junit: plan.job.reports.junit,
      send: async () => [],
      tellsFailures: true,
    };
    const result = await keepAround(plan.job.artifacts, keeper, log, () =>
      reportAround(tests, () =>
        runSteps({
          plan,
          file,
          tools,
          fixed: { ...tree.env, ...fixed },
          facts: { ...facts, env: { ...facts.env, ...tree.env } },
          tree,
          log,
          grace,
          folder: { ...folder, workspace },
          user: null,
          signal: cancel.signal,
          abandon,
          artifacts: keeper,
          listener: { steps: () => {}, masks: () => {}, summary: () => {} },
        }),
      ),
    );
    return { result, facts, mask: (text) => log.mask(text) };
  } catch (error) {
    if (error instanceof BuildFailure)
      return { result: null, error: new BuildFailure(error.reason, log.mask(error.message)) };
    if (error instanceof Cancel) return { result: null, error };
    throw error;
  } finally {
    clearTimeout(deadline);
    signal.removeEventListener("abort", onSignal);
    await tree.terminate(grace);
    log.flush();
    await endAndRemoveBuild(folder.path, null, grace);
  }
};

const standardOutput = () => {
  let size = 0;
  return {
    get size() {
      return size;
    },
    write: (bytes: Uint8Array): void => {
      size += bytes.length;
      process.stdout.write(bytes);
    },
  };
};
