import { rmSync } from "node:fs";
import { join } from "node:path";
import { unmetRequirements } from "../../domain/requires.ts";
import type { Plan } from "../../pipeline/parse/plan.ts";
import { isPlanned, ONLY_JOB } from "../../pipeline/parse/plan-contents.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { ArtifactStore } from "../artifacts/artifact-store.ts";
import { fetchArtifacts } from "../artifacts/fetch-artifacts.ts";
import { keepAround } from "../artifacts/keep-around.ts";
import { ArtifactKeeper } from "../artifacts/keep-artifacts.ts";
import type { CacheRoots } from "../cache/cache-archive.ts";
import type { JobCache, KeyedCache } from "../cache/job-cache.ts";
import { type CacheIds, cacheRoots, keyedCaches, readCacheIds } from "../cache/prepare-cache.ts";
import type { Changes } from "../checkout/changed-files.ts";
import { type CheckoutContext, type CheckoutSource, checkOut, type Fetched, toRemote } from "../checkout/checkout.ts";
import { platformCode } from "../cli/capabilities.ts";
import type { Identity } from "../cli/identity.ts";
import type { FilePlace } from "../files/file-helper.ts";
import type { JobLog } from "../log/job-log.ts";
import type { ProcessTree } from "../process/process-tree.ts";
import { chownTree, type StepUser } from "../process/step-user.ts";
import { reportAround, type TestReporterOptions } from "../reports/test-reporter.ts";
import { type RunStepsOptions, runSteps } from "../steps/run-steps.ts";
import { buildVariables } from "../steps/step-environment.ts";
import { firstSteps } from "../steps/step-report.ts";
import type { ToolSources } from "../tools/mise-program.ts";
import { setUpBuildTools, type ToolInputs, toolInputs } from "../tools/tools-of-job.ts";
import { findXcodes } from "../tools/xcodes.ts";
import { type JobAnswer, secretValues } from "../wire/answers.ts";
import type { BuildCalls } from "../wire/build-calls.ts";
import type { ProgressSender } from "../wire/progress-report.ts";
import { withFiles } from "./build-files.ts";
import { type BuildFolder, placeWorkspace } from "./build-folder.ts";
import { type BuildResult, checkedOutputs } from "./build-result.ts";
import { Cancel, RequirementsNotMet } from "./failure.ts";
import { fetchForJob, logCheckout, toSource } from "./fetch-job.ts";
import {
  asksForChanges,
  type ComparedFiles,
  changesFinder,
  knownBase,
  newsOfFile,
  reasonToSkip,
  toJobFacts,
} from "./job-facts.ts";
import { jobVariables } from "./one-of-several.ts";
import { type PlanRead, planJobs, readPlan, wholeText } from "./read-plan.ts";

interface PerformBuildOptions {
  identity: Identity;
  folder: BuildFolder;
  user: StepUser | null;
  toolSources: ToolSources;
  grace: number;
  tree: ProcessTree;
  log: JobLog;
  progress: ProgressSender;
  /** Aborted with a Cancel, or with the error that makes the build pointless. */
  cancel: AbortController;
  /** Resolves when the service has confirmed the start: before that, nothing of the build runs and nothing is reported. */
  started: Promise<void>;
  calls: BuildCalls;
  /** Makes the machine ready for the job. What it throws ends the job. */
  prepare(): Promise<void>;
  artifacts: ArtifactStore;
  /** What restores and saves the caches of the job. */
  cacheOf(roots: CacheRoots, caches: KeyedCache[]): JobCache;
  /** Called when the lease is over and the build goes on without this agent. */
  letGo(): void;
  /** Aborted when this agent holds the build's lease no more. */
  abandon: AbortSignal;
}

/**
 * Checks out, reads the plan, and runs its steps, or has its jobs planned.
 * @throws BuildFailure, RequirementsNotMet, Cancel
 */
export const performBuild = async (job: JobAnswer, options: PerformBuildOptions): Promise<BuildResult> => {
  const { folder, tree, cancel, progress, log } = options;
  const timer = cancelAfter(job.timeoutSeconds, cancel);
  let planTimer: NodeJS.Timeout | undefined;
  try {
    await options.prepare();
    logCheckout(job, options);
    const source = toSource(job);
    const context: CheckoutContext = {
      workspace: folder.workspace,
      tempFolder: folder.path,
      tree,
      signal: cancel.signal,
    };
    const fetched = await fetchForJob(job, source, context);
    await options.started;
    // The call for the environment carries it, and saves this report.
    if (job.needsEnvironment) progress.hold({ commitSha: fetched.commitSha });
    else progress.report({ commitSha: fetched.commitSha });
    log.say(`commit ${fetched.commitSha}`);
    await tellFile(job, fetched, options);
    const changes = changesFinder(job, toRemote(source, context), fetched.commitSha);
    const skipped = await reasonToSkip(job, fetched, changes);
    if (skipped !== null) {
      log.say(skipped);
      return { kind: "finish", body: { status: "canceled", exitCode: null, reason: "skipped", message: skipped } };
    }
    const read = await readPlan(job, fetched);
    if (!job.job && isPlanned(read.plan)) return await planAll(job, read, fetched, changes, options);
    const { plan } = read;
    if (!job.job) checkRequirements(plan, read.file, options.identity);
    if (plan.job.timeoutMinutes !== null) planTimer = cancelAfter(plan.job.timeoutMinutes * 60, cancel);
    const comparison = await compare(job, wholeText(read), changes, options);
    const inputs = await toolInputs(plan.job.tools, toRemote(source, context), fetched);
    const cacheIds = await readCacheIds(plan, fetched);
    await fillWorkspace(source, fetched, context, plan, options);
    const workspace = placeWorkspace(job, plan.job.checkout, options);
    const placed = { ...options, folder: { ...folder, workspace } };
    const equipped = await withEnvironment(job, plan, fetched, comparison, placed);
    const ready = await withFiles(equipped, folder, options.user);
    await fetchArtifacts(plan.job.downloads, {
      place: filesOf(placed),
      store: options.artifacts,
      log,
      replaces: false,
      isSkipped: (key) => job.job?.needs[key]?.result === "skipped",
    });
    return await runAll(ready, { read, cacheIds }, fetched, { comparison, inputs }, placed);
  } finally {
    clearTimeout(timer);
    clearTimeout(planTimer);
  }
};

/** Cancels the build at its time limit. */
export const cancelAfter = (seconds: number, cancel: AbortController): NodeJS.Timeout =>
  setTimeout(() => cancel.abort(new Cancel("timeout", seconds)), seconds * 1000);

/** Tells the service of a pipeline file that is new to it. */
const tellFile = async (job: JobAnswer, fetched: Fetched, { calls }: PerformBuildOptions): Promise<void> => {
  const text = newsOfFile(job, fetched);
  if (text !== null) await calls.sendFile(text);
};

/** What the build is compared with, found out where the file's text may ask for it. */
const compare = async (
  job: JobAnswer,
  text: string,
  changes: () => Promise<Changes | null>,
  { log, progress }: PerformBuildOptions,
): Promise<ComparedFiles> => {
  const found = asksForChanges(text) ? await changes() : null;
  const base = found?.base ?? knownBase(job);
  if (base !== null && job.needsEnvironment) progress.hold({ base });
  else if (base !== null) progress.report({ base });
  if (found) log.say(`compared with ${found.base}: changed files: ${found.files.length}`);
  return { base, files: found?.files ?? null };
};

const planAll = async (
  job: JobAnswer,
  read: PlanRead,
  { commitSha }: Fetched,
  changes: () => Promise<Changes | null>,
  options: PerformBuildOptions,
): Promise<BuildResult> => {
  const { calls, log, letGo, progress } = options;
  const comparison = await compare(job, wholeText(read), changes, options);
  await planJobs(read, { path: job.pipeline.configPath, commitSha, comparison, calls, log, letGo });
  progress.told();
  return { kind: "planned" };
};

/** The job with the variables that were not handed out while nobody had read the file. Masks their secrets. */
const withEnvironment = async (
  job: JobAnswer,
  plan: Plan,
  { commitSha }: Fetched,
  { base }: ComparedFiles,
  { calls, log, progress }: PerformBuildOptions,
): Promise<JobAnswer> => {
  if (!job.needsEnvironment) return job;
  const steps = firstSteps(plan, log);
  const handed = await calls.environment({ commitSha, ...(base === null ? {} : { base }), steps });
  progress.told(steps);
  const equipped = { ...job, ...handed };
  log.addSecrets(secretValues(equipped));
  return equipped;
};

/** Writes the commit's files, or leaves the folder empty where the file says so. */
const fillWorkspace = async (
  source: CheckoutSource,
  fetched: Fetched,
  context: CheckoutContext,
  { job: { checkout } }: Plan,
  { folder: { workspace }, user }: PerformBuildOptions,
): Promise<void> => {
  if (checkout) await checkOut(source, fetched, context, checkout);
  else rmSync(join(workspace, ".git"), { recursive: true, force: true });
  if (user) chownTree(user, workspace);
};

const runAll = async (
  job: JobAnswer,
  { read, cacheIds }: { read: PlanRead; cacheIds: CacheIds },
  fetched: Fetched,
  { comparison, inputs }: { comparison: ComparedFiles; inputs: ToolInputs },
  options: PerformBuildOptions,
): Promise<BuildResult> => {
  const { plan, file } = read;
  const { folder, log, artifacts: store, toolSources: sources } = options;
  const keeper = new ArtifactKeeper(filesOf(options), store, log);
  const steps = stepsOf(job, fetched, comparison, keeper, options);
  const tools = await setUpBuildTools({ ...steps, plan, file, job, inputs, sources, buildFolder: folder.path });
  const caches = keyedCaches(plan, steps.facts, cacheIds, log);
  const cache = options.cacheOf(cacheRoots(options.folder, options.user, options.cancel.signal), caches);
  await cache.restoreAll();
  const { succeeded, exitCode, message, state } = await keepAround(plan.job.artifacts, keeper, log, () =>
    reportAround(testsOf(job, read, options), () => runSteps({ ...steps, plan, file, tools })),
  );
  await cache.saveAll(succeeded);
  const status = succeeded ? "succeeded" : "failed";
  if (!succeeded || !job.job) return { kind: "finish", body: { status, exitCode, message } };
  const outputs = checkedOutputs(read, steps.facts, state, (text) => options.log.mask(text));
  return { kind: "finish", body: { status, exitCode, message, outputs } };
};

const testsOf = (job: JobAnswer, { plan }: PlanRead, options: PerformBuildOptions): TestReporterOptions => ({
  place: filesOf(options),
  log: options.log,
  jobKey: job.job?.key ?? ONLY_JOB,
  junit: plan.job.reports.junit,
  send: (report) => options.calls.sendTests(report),
  tellsFailures: false,
});

/** @throws RequirementsNotMet when the pipeline file requires what this agent does not have. */
const checkRequirements = (plan: Plan, file: string, identity: Identity): void => {
  const xcodes = plan.job.requires.xcode ? findXcodes().map(({ version }) => version) : [];
  const lacks = unmetRequirements({ ...identity, platform: platformCode(), xcodes }, plan.job.requires);
  if (lacks.length === 0) return;
  const phrases = lacks.map((lack) => lack.phrase).join(", ");
  throw new RequirementsNotMet(`${file} requires another agent: ${identity.name} ${phrases}`, plan.job.requires);
};

/** The files of the steps, with their user's rights. */
const filesOf = ({ folder, user, cancel }: PerformBuildOptions): FilePlace => ({
  root: folder.workspace,
  user,
  signal: cancel.signal,
});

const stepsOf = (
  job: JobAnswer,
  fetched: Fetched,
  comparison: ComparedFiles,
  artifacts: ArtifactKeeper,
  options: PerformBuildOptions,
): Omit<RunStepsOptions, "plan" | "file" | "tools"> => {
  const { identity, folder, tree, log, user, grace, cancel, abandon, progress } = options;
  const facts = { commitSha: fetched.commitSha, base: comparison.base };
  const ofJob = job.job ? jobVariables(job.job) : {};
  const fixed = { ...tree.env, ...buildVariables(job, facts, identity.name, identity.url), ...ofJob };
  return {
    fixed,
    folder,
    tree,
    log,
    user,
    grace,
    facts: toJobFacts(job, fetched, comparison, fixed, identity),
    signal: cancel.signal,
    abandon,
    artifacts,
    listener: {
      steps: (steps) => progress.report({ steps }),
      masks: (masks) => progress.report({ masks }),
      summary: summaryTo(log, progress),
    },
  };
};

/** Reports the summaries of all steps as one text. */
const summaryTo = (log: JobLog, progress: ProgressSender): ((text: string) => void) => {
  let whole = "";
  return (text) => {
    whole = `${whole}${log.mask(text)}`.slice(0, LIMITS.summaryCharacters);
    progress.report({ summary: whole });
  };
};
