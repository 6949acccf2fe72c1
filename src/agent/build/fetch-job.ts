import type { Changes } from "../checkout/changed-files.ts";
import {
  type CheckoutContext,
  type CheckoutSource,
  type Fetched,
  fetchSource,
  toRemote,
} from "../checkout/checkout.ts";
import type { Remote } from "../checkout/remote.ts";
import type { Identity } from "../cli/identity.ts";
import type { JobLog } from "../log/job-log.ts";
import { inOneLine } from "../steps/step-environment.ts";
import { attemptNumber, heldId, type JobAnswer, type OneOfSeveral } from "../wire/answers.ts";
import { BuildFailure, TryElsewhere } from "./failure.ts";
import { changesFinder } from "./job-facts.ts";

/* Fetches a job's sources and writes the job's first log lines. */

/** Describes the checkout. @throws BuildFailure when this agent is too old for the repository's kind of credential */
const toSource = ({ build: { branch, commitSha }, repository, pipeline, job }: JobAnswer): CheckoutSource => {
  const { fullName, cloneUrl, credential } = repository;
  const configPath = job?.path ?? pipeline.configPath;
  if (!credential) return { branch, commitSha, configPath, repository: { fullName, cloneUrl } };
  const { kind } = credential;
  if (kind === "other")
    throw new BuildFailure(
      "agent-error",
      "this agent is too old for the kind of the repository's credential: update it",
    );
  return { branch, commitSha, configPath, repository: { fullName, cloneUrl, credential: { ...credential, kind } } };
};

/** Returns the first lines of a planned job's log. */
export const jobHeader = ({ key, name, matrix }: OneOfSeveral): string => {
  const values = Object.entries(matrix ?? {}).map(([axis, value]) => `${axis}=${value}`);
  const title = name === key ? key : `${key}: ${name}`;
  return [`Job ${inOneLine(title)}`, ...(values.length > 0 ? [`matrix ${inOneLine(values.join(", "))}`] : [])].join(
    "\n",
  );
};

/** Writes the log's first lines: the checkout, the previous attempt's end, and the log's address. */
export const logCheckout = (job: JobAnswer, { log, identity }: { log: JobLog; identity: Identity }): void => {
  const { build, repository, job: one } = job;
  const { branch, message } = build;
  const before = attemptNumber(job) - 1;
  if (one) log.say(jobHeader(one));
  log.say(`--- Checkout of ${repository.fullName}, ${branch}`);
  if (message !== null && !one) log.say(message);
  if (before === 0) return;
  const url = `${identity.url}/${one ? "job" : "build"}/${heldId(job)}/log?attempt=${before}`;
  log.say(`This is attempt ${before + 1}. The log of attempt ${before}: GET ${url}`);
};

/** A build's commit, in a repository on this machine. */
export interface Commit {
  source: CheckoutSource;
  context: CheckoutContext;
  remote: Remote;
  fetched: Fetched;
  /** Returns the changes since the build's base; null if the changes are unknown. */
  changes: () => Promise<Changes | null>;
}

/**
 * Fetches the commit.
 * @throws TryElsewhere for a failed checkout: another agent may succeed, and the requirements are unknown yet
 */
const fetchOrTryElsewhere = async (
  job: JobAnswer,
  source: CheckoutSource,
  context: CheckoutContext,
): Promise<Fetched> => {
  try {
    return await fetchSource(source, context);
  } catch (error) {
    if (job.mayGoElsewhere && error instanceof BuildFailure && error.reason === "checkout-failed")
      throw new TryElsewhere(error.reason, error.message);
    throw error;
  }
};

/** Fetches a job's commit. @throws BuildFailure */
export const fetchForJob = async (job: JobAnswer, context: CheckoutContext): Promise<Commit> => {
  const source = toSource(job);
  const fetched = await fetchOrTryElsewhere(job, source, context);
  const remote = toRemote(source, context);
  return { source, context, remote, fetched, changes: changesFinder(job, remote, fetched.commitSha) };
};
