import { rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type { Checkout, Plan } from "../../pipeline/parse/plan.ts";
import { isPlanned, ONLY_JOB } from "../../pipeline/parse/plan-contents.ts";
import { SECOND_MS } from "../../protocol/units.ts";
import type { ArtifactStore } from "../artifacts/artifact-store.ts";
import { fetchArtifacts } from "../artifacts/fetch-artifacts.ts";
import { ArtifactKeeper, keepAround } from "../artifacts/keep-artifacts.ts";
import type { CacheRoots } from "../cache/cache-archive.ts";
import type { JobCache, KeyedCache } from "../cache/job-cache.ts";
import { type CacheIds, cacheRoots, keyedCaches, readCacheIds } from "../cache/prepare-cache.ts";
import { checkOut, type Fetched } from "../checkout/checkout.ts";
import { checkRequirements } from "../cli/capabilities.ts";
import type { Identity } from "../cli/identity.ts";
import type { FilePlace } from "../files/file-helper.ts";
import { inParallel } from "../in-parallel.ts";
import type { JobLog } from "../log/job-log.ts";
import type { ProcessTree } from "../process/process-tree.ts";
import { chownTree, type StepUser } from "../process/step-user.ts";
import { reportAround, type TestReporterOptions } from "../reports/test-reporter.ts";
import { type RunStepsOptions, runSteps } from "../steps/run-steps.ts";
import { buildVariables, jobVariables } from "../steps/step-environment.ts";
import { firstSteps, joinSummaries, pendingSteps } from "../steps/step-report.ts";
import type { ToolSources } from "../tools/mise-program.ts";
import { setUpBuildTools, type ToolInputs, toolInputs } from "../tools/tools-of-job.ts";
import { type JobAnswer, secretValues } from "../wire/answers.ts";
import type { BuildCalls } from "../wire/build-calls.ts";
import type { ProgressSender } from "../wire/progress-report.ts";
import { withFiles } from "./build-files.ts";
import { type BuildFolder, placeWorkspace } from "./build-folder.ts";
import { type BuildResult, checkedOutputs } from "./build-result.ts";
import { Cancel } from "./failure.ts";
import { type Commit, fetchForJob, logCheckout } from "./fetch-job.ts";
import { asksForChanges, type ComparedFiles, knownBase, newsOfFile, reasonToSkip, toJobFacts } from "./job-facts.ts";
import { type PlanRead, planJobs, readPlan, wholeText } from "./read-plan.ts";

interface BuildRunOptions {
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
  /** Resolves once the service confirms the start. Until then, the agent runs no build code and reports nothing. */
  started: Promise<void>;
  calls: BuildCalls;
  /** Prepares the machine for the job. An error ends the job. */
  prepare(): Promise<void>;
  artifacts: ArtifactStore;
  /** Opens the job's caches. */
  openCache(roots: CacheRoots, caches: KeyedCache[]): JobCache;
  /** Called when the lease is over and the build continues without this agent. */
  letGo(): void;
  /** Aborted when this agent no longer holds the build's lease. */
  abandon: AbortSignal;
}

/** Inputs read from the commit before the steps' user gets the checkout. */
interface Inputs {
  comparison: ComparedFiles;
  tools: ToolInputs;
  cacheIds: CacheIds;
}

/** Cancels the build at its time limit. */
export const cancelAfter = (seconds: number, cancel: AbortController): NodeJS.Timeout =>
  setTimeout(() => cancel.abort(new Cancel("timeout", seconds)), seconds * SECOND_MS);

/** One job of a build, from its commit to its steps' outputs. Each phase is a method. */
export class BuildRun {
  readonly #options: BuildRunOptions;
  readonly #timers: NodeJS.Timeout[] = [];
  /** The job from the service, and later with its steps' variables and files. */
  #job: JobAnswer;
  #isWritten = false;
  /** The folder, with the workspace at its final path after the checkout. */
  #folder: BuildFolder;

  constructor(job: JobAnswer, options: BuildRunOptions) {
    this.#job = job;
    this.#options = options;
    this.#folder = options.folder;
  }

  /**
   * Checks out the commit and reads the plan. Then runs the plan's steps, or has its jobs planned.
   * @throws BuildFailure, RequirementsNotMet, Cancel
   */
  async run(): Promise<BuildResult> {
    this.#limitTime(this.#job.timeoutSeconds);
    const { prepare, folder, tree, cancel } = this.#options;
    try {
      await prepare();
      logCheckout(this.#job, this.#options);
      const context = { workspace: folder.workspace, tempFolder: folder.path, tree, signal: cancel.signal };
      return await this.#runFetched(await fetchForJob(this.#job, context));
    } finally {
      for (const timer of this.#timers) clearTimeout(timer);
    }
  }

  async #runFetched(commit: Commit): Promise<BuildResult> {
    const { fetched, changes } = commit;
    try {
      await this.#tell(fetched);
      const skipReason = await reasonToSkip(this.#job, fetched, changes);
      if (skipReason !== null) return this.#skip(skipReason);
      const read = await readPlan(this.#job, fetched);
      if (!this.#job.job && isPlanned(read.plan)) return await this.#planJobs(read, commit);
      return await this.#runJob(read, commit);
    } finally {
      await fetched.objects.close();
    }
  }

  #limitTime(seconds: number): void {
    this.#timers.push(cancelAfter(seconds, this.#options.cancel));
  }

  /** Reports the commit once the job has started. Also reports the pipeline file if the service does not know it. */
  async #tell(fetched: Fetched): Promise<void> {
    const { log, started, calls } = this.#options;
    const { commitSha } = fetched;
    await started;
    this.#report({ commitSha });
    log.say(`commit ${commitSha}`);
    const text = newsOfFile(this.#job, fetched);
    if (text !== null) await calls.sendFile(text);
  }

  /**
   * Reports a fact. If the job still needs its environment, the request for the environment carries the report, which
   * saves a call.
   */
  #report(report: { commitSha: string } | { base: string }): void {
    const { progress } = this.#options;
    if (this.#job.needsEnvironment) progress.hold(report);
    else progress.report(report);
  }

  #skip(reason: string): BuildResult {
    this.#options.log.say(reason);
    return { kind: "finish", body: { status: "canceled", exitCode: null, reason: "skipped", message: reason } };
  }

  async #planJobs(read: PlanRead, { fetched: { commitSha }, changes }: Commit): Promise<BuildResult> {
    const { calls, log, letGo, progress } = this.#options;
    const comparison = await this.#compare(wholeText(read), changes);
    await planJobs(read, { path: this.#job.pipeline.configPath, commitSha, comparison, calls, log, letGo });
    progress.told();
    return { kind: "planned" };
  }

  /** Compares the build with its base, if the file's text may use the comparison. */
  async #compare(text: string, findChanges: Commit["changes"]): Promise<ComparedFiles> {
    const changes = asksForChanges(text) ? await findChanges() : null;
    const base = changes?.base ?? knownBase(this.#job);
    if (base !== null) this.#report({ base });
    if (changes) this.#options.log.say(`compared with ${changes.base}: changed files: ${changes.files.length}`);
    return { base, files: changes?.files ?? null };
  }

  async #runJob(read: PlanRead, commit: Commit): Promise<BuildResult> {
    const { plan, file } = read;
    if (!this.#job.job) checkRequirements(plan.job.requires, this.#options.identity, file);
    if (plan.job.timeoutMinutes !== null) this.#limitTime(plan.job.timeoutMinutes * 60);
    const { checkout } = plan.job;
    // Git writes the files while the service composes the environment, because neither needs the other. The request
    // starts first, because starting a process blocks this thread for some milliseconds.
    const [, inputs] = await inParallel(
      turn().then(() => this.#writeFiles(commit, checkout)),
      this.#prepare(read, commit),
    );
    this.#handOver(checkout);
    this.#job = await withFiles(this.#job, this.#folder, this.#options.user);
    await this.#fetchArtifacts(plan);
    return this.#runSteps(read, commit.fetched, inputs);
  }

  async #writeFiles({ source, context, fetched }: Commit, checkout: Checkout | false): Promise<void> {
    if (checkout) await checkOut(source, fetched, context, checkout);
    this.#isWritten = true;
  }

  /** Reads the steps' inputs from the commit and requests their environment. Git does not run again afterwards. */
  async #prepare({ plan, ...read }: PlanRead, { fetched, remote, changes }: Commit): Promise<Inputs> {
    const inputs = {
      comparison: await this.#compare(wholeText(read), changes),
      tools: await toolInputs(plan.job.tools, remote, fetched),
      cacheIds: await readCacheIds(plan, fetched),
    };
    const closed = fetched.objects.close();
    if (this.#job.needsEnvironment) await this.#askEnvironment(plan, fetched, inputs.comparison);
    await closed;
    return inputs;
  }

  /** Gives the checked-out files to the steps' user, or empties the folder. Moves it if the file requires that. */
  #handOver(checkout: Checkout | false): void {
    const { folder, user } = this.#options;
    const { workspace } = folder;
    if (!checkout) rmSync(join(workspace, ".git"), { recursive: true, force: true });
    if (user) chownTree(user, workspace);
    this.#folder = { ...folder, workspace: placeWorkspace(this.#job, checkout, this.#options) };
  }

  /** Requests the variables that the service withheld until the file was read, and masks their secrets. */
  async #askEnvironment(plan: Plan, { commitSha }: Fetched, { base }: ComparedFiles): Promise<void> {
    const { calls, log, progress } = this.#options;
    const steps = firstSteps(plan, log);
    const environment = await calls.environment({ commitSha, ...(base === null ? {} : { base }), steps });
    progress.told(steps);
    this.#job = { ...this.#job, ...environment };
    log.addSecrets(secretValues(this.#job));
    // The first step waits for a large checkout, so it does not run yet.
    if (!this.#isWritten) progress.hold({ steps: pendingSteps(plan, log) });
  }

  async #fetchArtifacts(plan: Plan): Promise<void> {
    const { artifacts: store, log } = this.#options;
    const isSkipped = (key: string): boolean => this.#job.job?.needs[key]?.result === "skipped";
    await fetchArtifacts(plan.job.downloads, { place: this.#place, store, log, replaces: false, isSkipped });
  }

  async #runSteps(
    read: PlanRead,
    fetched: Fetched,
    { comparison, tools: inputs, cacheIds }: Inputs,
  ): Promise<BuildResult> {
    const { plan, file } = read;
    const { folder, log, user, cancel, artifacts: store, toolSources: sources, openCache } = this.#options;
    const job = this.#job;
    const keeper = new ArtifactKeeper(this.#place, store, log);
    const steps = this.#stepsOptions(fetched, comparison, keeper);
    const tools = await setUpBuildTools({ ...steps, plan, file, job, inputs, sources, buildFolder: folder.path });
    const caches = keyedCaches(plan, steps.facts, cacheIds, log);
    const cache = openCache(cacheRoots(this.#folder, user, cancel.signal), caches);
    await cache.restoreAll();
    const { succeeded, exitCode, message, state } = await keepAround(plan.job.artifacts, keeper, log, () =>
      reportAround(this.#testOptions(plan), () => runSteps({ ...steps, plan, file, tools })),
    );
    await cache.saveAll(succeeded);
    const status = succeeded ? "succeeded" : "failed";
    if (!succeeded || !job.job) return { kind: "finish", body: { status, exitCode, message } };
    const outputs = checkedOutputs(read, steps.facts, state, (text) => log.mask(text));
    return { kind: "finish", body: { status, exitCode, message, outputs } };
  }

  /** The steps' files, with their user's rights. */
  get #place(): FilePlace {
    const { user, cancel } = this.#options;
    return { root: this.#folder.workspace, user, signal: cancel.signal };
  }

  #testOptions(plan: Plan): TestReporterOptions {
    const { log, calls } = this.#options;
    return {
      place: this.#place,
      log,
      jobKey: this.#job.job?.key ?? ONLY_JOB,
      junit: plan.job.reports.junit,
      send: (report) => calls.sendTests(report),
      tellsFailures: false,
    };
  }

  #stepsOptions(
    fetched: Fetched,
    comparison: ComparedFiles,
    artifacts: ArtifactKeeper,
  ): Omit<RunStepsOptions, "plan" | "file" | "tools"> {
    const { identity, tree, log, user, grace, cancel, abandon, progress } = this.#options;
    const job = this.#job;
    const facts = { commitSha: fetched.commitSha, base: comparison.base };
    const variables = buildVariables(job, facts, identity.name, identity.url);
    const fixed = { ...tree.env, ...variables, ...(job.job ? jobVariables(job.job) : {}) };
    return {
      fixed,
      folder: this.#folder,
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
        summary: joinSummaries(log, (summary) => progress.report({ summary })),
      },
    };
  }
}
