import { formatMistake } from "../domain/plan/mistake.ts";
import { parsePlan } from "../domain/plan/parse.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { unmetRequirements } from "../domain/requires.ts";
import type { Finish } from "../protocol/jobs.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { BuildFolder } from "./build-folder.ts";
import type { Changes } from "./checkout/changed-files.ts";
import {
  type CheckoutContext,
  type CheckoutSource,
  checkOut,
  type Fetched,
  fetchSource,
  remoteOf,
} from "./checkout/checkout.ts";
import { pipelineText } from "./checkout/commit-file.ts";
import { platformCode } from "./cli/capabilities.ts";
import type { Identity } from "./cli/identity.ts";
import { asksForChanges, changesOf, knownBase, newsOfFile, reasonToSkip } from "./errand.ts";
import { BuildFailure, Cancel, RequirementsNotMet, TryElsewhere } from "./failure.ts";
import { type Comparison, factsOf } from "./job-facts.ts";
import type { BuildLog } from "./log/build-log.ts";
import { chownTree } from "./process/as-user.ts";
import type { ProcessTree } from "./process/process-tree.ts";
import type { StepUser } from "./process/step-user.ts";
import { type RunStepsOptions, runSteps } from "./steps/run-steps.ts";
import { buildVariables } from "./steps/step-environment.ts";
import type { JobAnswer } from "./wire/answers.ts";
import type { ProgressReport } from "./wire/progress-report.ts";

export interface PerformBuildOptions {
  identity: Identity;
  folder: BuildFolder;
  user: StepUser | null;
  grace: number;
  tree: ProcessTree;
  log: BuildLog;
  progress: ProgressReport;
  /** Aborted with a Cancel, or with the error that makes the build pointless. */
  cancel: AbortController;
  /** Resolves when the service has confirmed the start: before that, nothing of the build runs and nothing is reported. */
  started: Promise<void>;
  /** Tells the service what the pipeline file of the default branch is. */
  sendFile(text: string): Promise<void>;
  /** Aborted when this agent holds the build's lease no more. */
  abandon: AbortSignal;
}

/** Checks out, reads the plan, runs its steps. @throws BuildFailure, RequirementsNotMet, Cancel */
export const performBuild = async (job: JobAnswer, options: PerformBuildOptions): Promise<Finish> => {
  const { folder, tree, cancel, user, progress, log } = options;
  const timer = cancelAfter(job.timeoutSeconds, cancel);
  let planTimer: NodeJS.Timeout | undefined;
  try {
    logCheckout(job, options);
    const source = sourceOf(job);
    const context: CheckoutContext = {
      workspace: folder.workspace,
      tempFolder: folder.path,
      tree,
      signal: cancel.signal,
    };
    const fetched = await fetchForJob(job, source, context);
    await options.started;
    progress.report({ commitSha: fetched.commitSha });
    log.say(`commit ${fetched.commitSha}`);
    await tellFile(job, fetched, options);
    const changes = changesOf(job, remoteOf(source, context), fetched.commitSha);
    const skipped = await reasonToSkip(job, fetched, changes);
    if (skipped !== null) {
      log.say(skipped);
      return { status: "canceled", exitCode: null, reason: "skipped", message: skipped };
    }
    const { file, plan, text } = planOf(job, fetched);
    checkRequirements(plan, file, options.identity);
    if (plan.job.timeoutMinutes !== null) planTimer = cancelAfter(plan.job.timeoutMinutes * 60, cancel);
    const comparison = await compare(job, text, changes, options);
    if (plan.job.checkout) await checkOut(source, fetched, context, plan.job.checkout);
    if (user) chownTree(user, folder.workspace);
    const { succeeded, exitCode, message } = await runSteps({
      ...stepsOf(job, fetched, comparison, options),
      plan,
      file,
    });
    return { status: succeeded ? "succeeded" : "failed", exitCode, message };
  } finally {
    clearTimeout(timer);
    clearTimeout(planTimer);
  }
};

/** Cancels the build at its time limit. */
export const cancelAfter = (seconds: number, cancel: AbortController): NodeJS.Timeout =>
  setTimeout(() => cancel.abort(new Cancel("timeout", seconds)), seconds * 1000);

/** @throws BuildFailure when this agent is too old for the kind of the repository's credential. */
const sourceOf = ({ build: { branch, commitSha }, repository, pipeline }: JobAnswer): CheckoutSource => {
  const { fullName, cloneUrl, credential } = repository;
  const { configPath } = pipeline;
  if (!credential) return { branch, commitSha, configPath, repository: { fullName, cloneUrl } };
  const { kind } = credential;
  if (kind === "other")
    throw new BuildFailure(
      "agent-error",
      "this agent is too old for the kind of the repository's credential: update it",
    );
  return { branch, commitSha, configPath, repository: { fullName, cloneUrl, credential: { ...credential, kind } } };
};

/** The log's first lines: what is checked out, what happened to the attempt before, and where its log is. */
const logCheckout = ({ build, repository }: JobAnswer, { log, identity }: PerformBuildOptions): void => {
  const { id, attempt, branch, message } = build;
  log.say(`--- Checkout of ${repository.fullName}, ${branch}`);
  if (message !== null) log.say(message);
  if (attempt === 0) return;
  const url = `${identity.url}/build/${id}/log?attempt=${attempt}`;
  log.say(`This is attempt ${attempt + 1}. The log of attempt ${attempt}: GET ${url}`);
};

/** @throws TryElsewhere for a failed checkout: what the build requires is not known yet, so another agent may fetch it. */
const fetchForJob = async (job: JobAnswer, source: CheckoutSource, context: CheckoutContext): Promise<Fetched> => {
  try {
    return await fetchSource(source, context);
  } catch (error) {
    if (job.mayGoElsewhere && error instanceof BuildFailure && error.reason === "checkout-failed")
      throw new TryElsewhere(error.reason, error.message);
    throw error;
  }
};

/** Tells the service of a pipeline file that is new to it. */
const tellFile = async (job: JobAnswer, fetched: Fetched, { sendFile }: PerformBuildOptions): Promise<void> => {
  const text = newsOfFile(job, fetched);
  if (text !== null) await sendFile(text);
};

/** What the build is compared with, found out where the file's text may ask for it. */
const compare = async (
  job: JobAnswer,
  text: string,
  changes: () => Promise<Changes | null>,
  { log, progress }: PerformBuildOptions,
): Promise<Comparison> => {
  const found = asksForChanges(text) ? await changes() : null;
  const base = found?.base ?? knownBase(job);
  if (base !== null) progress.report({ base });
  if (found) log.say(`compared with ${found.base}: changed files: ${found.files.length}`);
  return { base, files: found?.files ?? null };
};

const planOf = (
  { pipeline: { definition, configPath } }: JobAnswer,
  fetched: Fetched,
): { file: string; plan: Plan; text: string } => {
  const file = definition === null ? configPath : "definition";
  const text = definition ?? pipelineText(fetched, configPath, LIMITS.definitionCharacters);
  return { file, plan: parsePlanOrFail(text, file), text };
};

/** @throws BuildFailure pipeline-invalid with a line for each mistake. */
export const parsePlanOrFail = (text: string, file: string): Plan => {
  const { plan, mistakes = [] } = parsePlan(text);
  if (plan) return plan;
  throw new BuildFailure("pipeline-invalid", mistakes.map((mistake) => formatMistake(file, mistake)).join("\n"));
};

/** @throws RequirementsNotMet when the pipeline file requires what this agent does not have. */
const checkRequirements = (plan: Plan, file: string, identity: Identity): void => {
  const lacks = unmetRequirements({ ...identity, platform: platformCode() }, plan.job.requires);
  if (lacks.length === 0) return;
  const phrases = lacks.map((lack) => lack.phrase).join(", ");
  throw new RequirementsNotMet(`${file} requires another agent: ${identity.name} ${phrases}`, plan.job.requires);
};

const stepsOf = (
  job: JobAnswer,
  fetched: Fetched,
  comparison: Comparison,
  options: PerformBuildOptions,
): Omit<RunStepsOptions, "plan" | "file"> => {
  const { identity, folder, tree, log, user, grace, cancel, abandon, progress } = options;
  const facts = { commitSha: fetched.commitSha, base: comparison.base };
  const fixed = { ...tree.env, ...buildVariables(job, facts, identity.name, identity.url) };
  return {
    fixed,
    folder,
    tree,
    log,
    user,
    grace,
    facts: factsOf(job, fetched, comparison, fixed, identity),
    signal: cancel.signal,
    abandon,
    listener: {
      steps: (steps) => progress.report({ steps }),
      masks: (masks) => progress.report({ masks }),
      summary: summaryTo(log, progress),
    },
  };
};

/** Reports the summaries of all steps as one text. */
const summaryTo = (log: BuildLog, progress: ProgressReport): ((text: string) => void) => {
  let whole = "";
  return (text) => {
    whole = `${whole}${log.mask(text)}`.slice(0, LIMITS.summaryCharacters);
    progress.report({ summary: whole });
  };
};
