import { createHash, randomUUID } from "node:crypto";
import { expand } from "../../pipeline/graph/expand.ts";
import type { GraphJob, JobGraph } from "../../pipeline/graph/graph.ts";
import type { JobEnd } from "../../pipeline/graph/job-end.ts";
import { collectQuestions } from "../../pipeline/graph/questions.ts";
import { formatMistake } from "../../pipeline/mistake.ts";
import type { IncludedText } from "../../pipeline/parse/included-files.ts";
import type { Plan } from "../../pipeline/parse/plan.ts";
import type { Needs } from "../../protocol/jobs.ts";
import { PIPELINE_DEFAULTS } from "../../protocol/pipeline.ts";
import { needsFrom } from "../../queue/jobs/needs.ts";
import { triesAgain } from "../../queue/jobs/rules.ts";
import type { LocalArtifacts } from "../artifacts/local-store.ts";
import type { BuildFile } from "../build/build-files.ts";
import { checkedOutputs } from "../build/build-result.ts";
import { BuildFailure, type Cancel } from "../build/failure.ts";
import { jobHeader } from "../build/fetch-job.ts";
import { changedAnswers, readPlannedJob, wholeText } from "../build/read-plan.ts";
import { ProcessTree } from "../process/process-tree.ts";
import { jobVariables } from "../steps/step-environment.ts";
import type { ToolSources } from "../tools/mise-program.ts";
import { EXIT, ExitError } from "./exit-codes.ts";
import { endInWords, type JobResult, LocalBuild, say } from "./local-build.ts";
import { type LocalFacts, localFacts, runPlan } from "./local-plan.ts";

type Tried = Pick<JobEnd, "status" | "reason">;

interface Tries<T extends Tried> {
  /** The name to show to people. */
  name: string;
  /** Further tries after the first. */
  retry: number;
  /** The person aborts this to stop the run. No try begins afterwards. */
  signal: AbortSignal;
  /** Runs one try. Tries count from 1. */
  run: (attempt: number) => Promise<T>;
}

/** Tries a job as often as the service would. @returns the last try's end */
export const runLocalTries = async <T extends Tried>({ name, retry, signal, run }: Tries<T>): Promise<T> => {
  for (let retries = 0; ; retries++) {
    const tried = await run(retries + 1);
    const status = signal.aborted ? "canceling" : "running";
    if (!triesAgain({ status, retry, retries }, tried)) return tried;
    say(`${name} failed: starting attempt ${retries + 2} of ${retry + 1}`);
  }
};

export interface LocalRunOptions {
  env: Record<string, string>;
  /** Variables of type file. */
  files: BuildFile[];
  /** The key of the only job to run, in a file with jobs. */
  job: string | null;
  /** Opens every gate without asking. */
  approve: boolean;
  toolSources: ToolSources;
  artifacts: LocalArtifacts;
  /** Milliseconds between SIGTERM and SIGKILL. */
  grace: number;
  /** The person aborts this to stop the run. Only cleanup still runs afterwards. */
  signal: AbortSignal;
  /** The person aborts this to end the cleanup, too. */
  abandon: AbortSignal;
}

interface LocalJobs extends LocalRunOptions {
  file: string;
  text: string;
  plan: Plan;
  includes: IncludedText[];
}

/** Runs a file's jobs in dependency order, or only one of them. @returns the exit code */
export const runJobs = async (options: LocalJobs): Promise<number> => {
  const { job, approve, signal, abandon, env } = options;
  const localContext = await localFacts(randomUUID(), wholeText(options), env, new ProcessTree("local"));
  const graph = planGraph(options, localContext);
  const run = (one: GraphJob, needs: Needs): Promise<JobResult> => {
    const { key: name, retry = 0 } = one;
    return runLocalTries({ name, retry, signal, run: (attempt) => runOne(one, attempt, needs, localContext, options) });
  };
  return job === null ? new LocalBuild({ graph, approve, run, signal, abandon }).run() : runOnly(job, graph, run);
};

/** Plans the jobs. @throws BuildFailure pipeline-invalid with a line for each mistake */
const planGraph = ({ file, text, plan, env }: LocalJobs, { facts }: LocalFacts): JobGraph => {
  const { build, repository, changedFiles = null } = facts;
  const { graph, mistakes = [] } = expand(plan, {
    facts: { build, repository, vars: env, changed: changedAnswers(collectQuestions(plan), changedFiles) },
    hash: sha256(text),
    path: file,
    commitSha: build.commit,
    requires: {},
    timeoutSeconds: PIPELINE_DEFAULTS.timeoutSeconds,
    newId: randomUUID,
  });
  if (graph) return graph;
  throw new BuildFailure("pipeline-invalid", mistakes.map((mistake) => formatMistake(file, mistake)).join("\n"));
};

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Runs the job with this key, or all combinations of its matrix, as if all its needs had succeeded. */
const runOnly = async (
  jobName: string,
  graph: JobGraph,
  run: (job: GraphJob, needs: Needs) => Promise<JobResult>,
): Promise<number> => {
  const jobs = graph.jobs.filter(({ key, definition }) => key === jobName || definition === jobName);
  const keys = graph.jobs.map(({ key }) => key).join(", ");
  if (jobs.length === 0) throw new ExitError(`no job is named ${jobName}: the jobs are ${keys}`, EXIT.usage);
  const needed = [...new Set(jobs.flatMap(({ needs }) => needs.map(({ definition }) => definition)))];
  if (needed.length > 0) say(`${needed.join(", ")}: not run, treated as succeeded without outputs`);
  let code: number = EXIT.done;
  for (const job of jobs) {
    const { outputs: _, ...result } = await run(
      job,
      needsFrom(
        graph,
        job.id,
        () => "succeeded",
        () => ({}),
      ),
    );
    say(endInWords(job.key, { ...result, cause: null }));
    if (code === EXIT.done && result.status !== "succeeded")
      code = result.status === "canceled" ? EXIT.interrupted : (result.exitCode ?? EXIT.failed);
  }
  return code;
};

const NO_RESULT = { exitCode: null, outputs: {} };

const runOne = async (
  job: GraphJob,
  attempt: number,
  needs: Needs,
  localContext: LocalFacts,
  options: LocalJobs,
): Promise<JobResult> => {
  const { file, text, plan, files, toolSources, grace, signal, abandon, artifacts } = options;
  const one = { ...job, needs, hash: sha256(text), path: file, attempt };
  say(jobHeader(one));
  if (job.groups.length > 0) say(`groups ${job.groups.join(", ")}: their variables exist only on the service`);
  const fixed = { ...localContext.fixed, ...jobVariables(one) };
  const build = { ...localContext.facts.build, attempt };
  const facts = {
    ...localContext.facts,
    build,
    env: { ...localContext.facts.env, ...fixed },
    matrix: job.matrix,
    needs,
  };
  const read = readPlannedJob(plan, file, text, job.definition);
  const end = await runPlan({
    read,
    files,
    toolSources,
    grace,
    // After a cancel, only cleanup jobs begin.
    signal: signal.aborted ? abandon : signal,
    abandon,
    artifacts,
    job,
    readFacts: async () => ({ fixed, facts }),
  });
  if (!end.result) return failed(end.error);
  const { succeeded, exitCode, message, state } = end.result;
  if (!succeeded) return { status: "failed", exitCode, reason: null, message, outputs: {} };
  try {
    return {
      status: "succeeded",
      exitCode,
      reason: null,
      message,
      outputs: checkedOutputs(read, end.facts, state, end.mask),
    };
  } catch (error) {
    if (error instanceof BuildFailure) return failed(error);
    throw error;
  }
};

const failed = (error: BuildFailure | Cancel): JobResult => {
  if (error instanceof BuildFailure)
    return { ...NO_RESULT, status: "failed", reason: error.reason, message: error.message };
  if (error.reason === "timeout")
    return { ...NO_RESULT, status: "failed", reason: "timeout", message: "it exceeded its time limit" };
  return { ...NO_RESULT, status: "canceled", reason: "canceled", message: null };
};
