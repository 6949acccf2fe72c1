import type { JobFacts } from "../domain/plan/evaluate.ts";
import { describeMistake } from "../domain/plan/mistake.ts";
import { parsePlan } from "../domain/plan/parse.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { lacking } from "../domain/requires.ts";
import type { Finish } from "../protocol/jobs.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { JobAnswer } from "./answers.ts";
import { giveTo } from "./as-user.ts";
import type { BuildFolder } from "./build-folder.ts";
import type { BuildLog } from "./build-log.ts";
import { platformCode, platformName } from "./capabilities.ts";
import { checkOut, type Fetched, fetchSource, type Source, type Surroundings } from "./checkout.ts";
import { pipelineText } from "./commit-file.ts";
import { BuildFailure, Cancel, TryElsewhere, WrongAgent } from "./failure.ts";
import type { Identity } from "./identity.ts";
import type { ProcessTree } from "./process-tree.ts";
import type { ProgressReport } from "./progress.ts";
import { buildVariables } from "./step-environment.ts";
import type { StepUser } from "./step-user.ts";
import { runSteps } from "./steps.ts";

export interface Surrounding {
  identity: Identity;
  folder: BuildFolder;
  user: StepUser | null;
  grace: number;
  tree: ProcessTree;
  log: BuildLog;
  progress: ProgressReport;
  /** Aborted with a Cancel, or with what makes it pointless to go on. */
  cancel: AbortController;
  /** Ends when the service has confirmed that the build is ours: nothing of it is run or told before. */
  begun: Promise<void>;
  /** Aborted when the build is nobody's here any more. */
  abandon: AbortSignal;
}

/** Checks out, reads the plan, runs its steps. @throws BuildFailure, WrongAgent, Cancel */
export const performBuild = async (job: JobAnswer, around: Surrounding): Promise<Finish> => {
  const { log, folder, tree, cancel, user, progress, identity } = around;
  const deadline = deadlineAfter(job.timeoutSeconds, cancel);
  let fileDeadline: NodeJS.Timeout | null = null;
  try {
    const { branch, commitSha } = job.build;
    log.say(`--- Checkout of ${job.repository.fullName}, ${branch}`);
    for (const line of earlierAttempt(job, identity.url)) log.say(line);
    const { configPath } = job.pipeline;
    const source: Source = { branch, commitSha, repository: repositoryOf(job), configPath };
    const at: Surroundings = {
      workspace: folder.workspace,
      private: folder.path,
      tree,
      signal: cancel.signal,
    };
    const fetched = await fetchSource(source, at).catch((error: unknown) => {
      throw job.mayGoElsewhere ? elsewhereToo(error) : error;
    });
    await around.begun;
    progress.report({ commitSha: fetched.commitSha });
    log.say(`commit ${fetched.commitSha}`);
    const { file, plan } = planOf(job, fetched);
    const lacks = lacking({ ...identity, platform: platformCode() }, plan.job.requires);
    if (lacks.length > 0)
      throw new WrongAgent(
        `${file} requires another agent: ${identity.name} ${lacks.map(({ words }) => words).join(", ")}`,
        plan.job.requires,
      );
    if (plan.job.timeoutMinutes !== null) fileDeadline = deadlineAfter(plan.job.timeoutMinutes * 60, cancel);
    await checkOut(source, fetched, at, plan.job.checkout);
    if (user) giveTo(user, folder.workspace);
    const fixed = { ...tree.mark, ...buildVariables(job, fetched.commitSha, identity.name, identity.url) };
    const { succeeded, exitCode, message } = await runSteps({
      ...{ plan, file, fixed, folder, tree, log, user },
      facts: factsOf(job, fetched, fixed, identity),
      grace: around.grace,
      signal: cancel.signal,
      abandon: around.abandon,
      listener: {
        steps: (steps) => progress.report({ steps }),
        masks: (masks) => progress.report({ masks }),
        summary: summaryTo(log, progress),
      },
    });
    return { status: succeeded ? "succeeded" : "failed", exitCode, message };
  } finally {
    clearTimeout(deadline);
    if (fileDeadline) clearTimeout(fileDeadline);
  }
};

/** Before its file could be read nobody knew what the build requires: another agent may be able to fetch it. */
const elsewhereToo = (error: unknown): unknown =>
  error instanceof BuildFailure && error.reason === "checkout-failed"
    ? new TryElsewhere(error.reason, error.message)
    : error;

/** @throws BuildFailure where its credential is of a kind that this agent is too old for */
const repositoryOf = ({ repository: { credential, ...repository } }: JobAnswer): Source["repository"] => {
  if (!credential) return repository;
  const { kind } = credential;
  if (kind !== "other") return { ...repository, credential: { ...credential, kind } };
  throw new BuildFailure(
    "agent-error",
    "the repository's credential is of a kind that this agent is too old for: update it",
  );
};

/** What became of the attempt before this one, and where its log is. */
const earlierAttempt = ({ build: { id, attempt, message } }: JobAnswer, url: string): string[] => [
  ...(message === null ? [] : [message]),
  ...(attempt === 0
    ? []
    : [`This is attempt ${attempt + 1}. The log of attempt ${attempt}: GET ${url}/build/${id}/log?attempt=${attempt}`]),
];

/** Stops the build when its time is over. */
export const deadlineAfter = (seconds: number, cancel: AbortController): NodeJS.Timeout =>
  setTimeout(() => cancel.abort(new Cancel("timeout", seconds)), seconds * 1000);

const planOf = (
  { pipeline: { definition, configPath } }: JobAnswer,
  fetched: Fetched,
): { file: string; plan: Plan } => {
  const file = definition === null ? configPath : "definition";
  const text = definition ?? pipelineText(fetched, configPath, LIMITS.definitionCharacters);
  return { file, plan: planFrom(text, file) };
};

/** @throws BuildFailure pipeline-invalid with every mistake on a line of its own. */
export const planFrom = (text: string, file: string): Plan => {
  const { plan, mistakes = [] } = parsePlan(text);
  if (plan) return plan;
  throw new BuildFailure("pipeline-invalid", mistakes.map((mistake) => describeMistake(file, mistake)).join("\n"));
};

const factsOf = (
  { build, env, secretKeys, runKeys, repository: { fullName, cloneUrl } }: JobAnswer,
  { commitSha, message }: Fetched,
  fixed: Record<string, string>,
  { id, name }: Identity,
): JobFacts => ({
  env: { CI: "true", ...env, ...fixed },
  secretKeys,
  runKeys,
  build: {
    ...{ id: build.id, number: build.number, branch: build.branch, trigger: build.trigger, commit: commitSha, message },
    // The record counts the attempts that were started before this one.
    attempt: build.attempt + 1,
  },
  repository: { id: build.repoId, fullName, cloneUrl },
  agent: { id, name, platform: platformName() },
});

/** Summaries of all steps, one after the other. */
const summaryTo = (log: BuildLog, progress: ProgressReport): ((text: string) => void) => {
  let whole = "";
  return (text) => {
    whole = `${whole}${log.mask(text)}`.slice(0, LIMITS.summaryCharacters);
    progress.report({ summary: whole });
  };
};
