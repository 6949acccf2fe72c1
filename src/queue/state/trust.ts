import type { Trust } from "../../protocol/build.ts";
import { isQueued } from "../../protocol/build-states.ts";
import type { Requires } from "../../protocol/pipeline.ts";
import type { Role } from "../../protocol/token.ts";
import type { BuildFacts, JobFacts } from "./facts.ts";

/* Someone else's code runs only on machines that are meant for it. */

/** The label of agents for untrusted builds. These agents get only builds that require the label. */
export const UNTRUSTED_LABEL = "untrusted";

export const trustOf = ({ trust }: { trust?: "untrusted" | undefined }): Trust => trust ?? "trusted";

/** Returns the requirements that a job of the build has for an agent, based on the build's own requirements. */
export const confinedTo = (requires: Requires, build: Pick<BuildFacts, "trust">): Requires =>
  trustOf(build) === "trusted"
    ? requires
    : { ...requires, labels: [...new Set([...(requires.labels ?? []), UNTRUSTED_LABEL])] };

/**
 * Returns the job in the form that the queue accepts. A job of an untrusted build requires an agent with the label,
 * whatever its file requires. It also requires a program that supports untrusted builds.
 */
export const confined = (job: JobFacts, build: Pick<BuildFacts, "trust">): JobFacts =>
  trustOf(build) === "trusted"
    ? job
    : {
        ...job,
        requires: confinedTo(job.requires, build),
        features: [...new Set([...(job.features ?? []), "untrusted" as const])],
      };

/** Reports whether the agent is for untrusted builds, and the job does not require such an agent. */
export const isReserved = (labels: readonly string[], jobLabels: readonly string[] | null | undefined): boolean =>
  labels.includes(UNTRUSTED_LABEL) && !jobLabels?.includes(UNTRUSTED_LABEL);

/** The role that approves someone else's commit. */
export const APPROVER = "member" satisfies Role;

/**
 * Reports whether the build waits for approval. Until its approval the build is in no queue, and no agent runs the
 * build.
 */
export const awaitsApproval = ({ approval, status }: BuildFacts): boolean =>
  !!approval && !approval.decision && isQueued(status);

/** Returns when a held build ends without a decision, in milliseconds since 1970; null for any other build. */
export const approvalUntil = (build: BuildFacts): number | null =>
  awaitsApproval(build) ? build.approval!.until : null;
