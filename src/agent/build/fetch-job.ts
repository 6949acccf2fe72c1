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

/* What is fetched for a job, from where, and what its log says of that. */

/** @throws BuildFailure when this agent is too old for the kind of the repository's credential. */
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

/** The first lines of a planned job's log. */
export const jobHeader = ({ key, name, matrix }: OneOfSeveral): string => {
  const values = Object.entries(matrix ?? {}).map(([axis, value]) => `${axis}=${value}`);
  const title = name === key ? key : `${key}: ${name}`;
  return [`Job ${inOneLine(title)}`, ...(values.length > 0 ? [`matrix ${inOneLine(values.join(", "))}`] : [])].join(
    "\n",
  );
};

/** The log's first lines: what is checked out, what happened to the attempt before, and where its log is. */
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

/** The commit of a build, in a repository on this machine. */
export interface Commit {
  source: CheckoutSource;
  context: CheckoutContext;
  remote: Remote;
  fetched: Fetched;
  /** What changed since the commit that the build is compared with; null where that is not known. */
  changes: () => Promise<Changes | null>;
}

/** @throws TryElsewhere for a failed checkout: what the build requires is not known yet, so another agent may fetch it. */
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

/** Fetches the commit that a job is about. @throws BuildFailure */
export const fetchForJob = async (job: JobAnswer, context: CheckoutContext): Promise<Commit> => {
  const source = toSource(job);
  const fetched = await fetchOrTryElsewhere(job, source, context);
  const remote = toRemote(source, context);
  return { source, context, remote, fetched, changes: changesFinder(job, remote, fetched.commitSha) };
};
