import { randomUUID } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JobContext } from "../../pipeline/prepare/job-context.ts";
import { fetchArtifacts } from "../artifacts/fetch-artifacts.ts";
import { keepAround } from "../artifacts/keep-around.ts";
import { ArtifactKeeper } from "../artifacts/keep-artifacts.ts";
import type { LocalArtifacts, LocalJob } from "../artifacts/local-store.ts";
import { type BuildFile, writeFiles } from "../build/build-files.ts";
import { endAndRemoveBuild, makeBuildFolder } from "../build/build-folder.ts";
import { BuildFailure, Cancel } from "../build/failure.ts";
import { cancelAfter } from "../build/perform-build.ts";
import type { PlanRead } from "../build/read-plan.ts";
import { JobLog } from "../log/build-log.ts";
import { ProcessTree } from "../process/process-tree.ts";
import { reportAround } from "../reports/test-reporter.ts";
import { runSteps, type StepsResult } from "../steps/run-steps.ts";
import type { ToolSources } from "../tools/mise-program.ts";
import type { ToolEnvironment } from "../tools/tool-environment.ts";
import { TOOL_FILE_BYTES, TOOL_FILES } from "../tools/tool-inputs.ts";
import { toolsIn } from "../tools/tools-of-job.ts";
import type { LocalFacts } from "./local-facts.ts";

interface LocalTools {
  read: PlanRead;
  facts: JobContext;
  tree: ProcessTree;
  grace: number;
  signal: AbortSignal;
  log: JobLog;
  sources: ToolSources;
}

/** The files of this folder that name tools. */
const textsHere = (): Map<string, string> =>
  new Map(
    TOOL_FILES.flatMap((file) => {
      const found = lstatSync(file, { throwIfNoEntry: false });
      if (!found?.isFile()) return [];
      if (found.size > TOOL_FILE_BYTES)
        throw new BuildFailure("pipeline-invalid", `${file} is larger than ${TOOL_FILE_BYTES} bytes`);
      return [[file, readFileSync(file, "utf8")] as const];
    }),
  );

/** Sets up tools for a run in this folder: in a folder that all runs of this person share. */
const localTools = ({ read, ...options }: LocalTools): Promise<ToolEnvironment> => {
  const { sources } = options;
  const folder = join(sources.folder, "local");
  const texts = read.plan.job.tools === null ? new Map<string, string>() : textsHere();
  return toolsIn({ ...options, ...read, user: null, store: null, texts, folder, root: folder });
};

interface LocalPlanOptions {
  read: PlanRead;
  factsOf: (tree: ProcessTree) => Promise<LocalFacts>;
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

/** How one plan ended in this folder: with what its steps gave, or why they did not run to their end. */
export type LocalEnd =
  | { result: StepsResult; facts: JobContext; mask: (text: string) => string }
  | { result: null; error: BuildFailure | Cancel };

/** Runs the steps of one plan in this folder, and ends all that they started. */
export const runPlan = async ({
  read,
  factsOf,
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
    const { fixed, facts: known } = await factsOf(tree);
    const paths = await writeFiles(files, folder, null);
    const facts = { ...known, env: { ...known.env, ...paths, ...fixed } };
    const workspace = plan.job.checkout ? process.cwd() : folder.workspace;
    const place = { root: workspace, user: null, signal: cancel.signal };
    const store = artifacts(job, cancel.signal);
    const keeper = new ArtifactKeeper(place, store, log);
    // A file of an earlier run in this folder gives way.
    await fetchArtifacts(plan.job.downloads, { place, store, log, replaces: true, isSkipped: () => false });
    const tools = await localTools({ read, facts, tree, grace, signal: cancel.signal, log, sources });
    const tests = {
      ...{ place, log, jobKey: job.key, junit: plan.job.reports.junit },
      ...{ send: async () => [], tellsFailures: true },
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
