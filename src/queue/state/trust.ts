import type { Trust } from "../../protocol/build.ts";
import { isQueued } from "../../protocol/build-states.ts";
import type { Requires } from "../../protocol/pipeline.ts";
import type { Role } from "../../protocol/token.ts";
import type { BuildFacts, JobFacts } from "./facts.ts";

/* Code of a stranger runs on machines that are meant for it, and on no other. */

/** The label of agents for untrusted builds. They get no build that does not ask for it. */
export const UNTRUSTED_LABEL = "untrusted";

export const trustOf = ({ trust }: { trust?: "untrusted" | undefined }): Trust => trust ?? "trusted";

/** What an agent needs for a job of the build that requires this. */
export const confinedTo = (requires: Requires, build: Pick<BuildFacts, "trust">): Requires =>
  trustOf(build) === "trusted"
    ? requires
    : { ...requires, labels: [...new Set([...(requires.labels ?? []), UNTRUSTED_LABEL])] };

/**
 * The job as the queue takes it: of an untrusted build only for agents with the label, whatever its file asks for, and
 * whose program knows of such builds.
 */
export const confined = (job: JobFacts, build: Pick<BuildFacts, "trust">): JobFacts =>
  trustOf(build) === "trusted"
    ? job
    : {
        ...job,
        requires: confinedTo(job.requires, build),
        features: [...new Set([...(job.features ?? []), "untrusted" as const])],
      };

/** Whether an agent for untrusted builds would get one that does not ask for such agents. */
export const isReserved = (labels: readonly string[], jobLabels: readonly string[] | null | undefined): boolean =>
  labels.includes(UNTRUSTED_LABEL) && !jobLabels?.includes(UNTRUSTED_LABEL);

/** The role that approves the commit of a stranger. */
export const APPROVER = "member" satisfies Role;

/** Whether it waits for approval: until then it is in no queue, and nobody runs it. */
export const awaitsApproval = ({ approval, status }: BuildFacts): boolean =>
  !!approval && !approval.decision && isQueued(status);

/** When a held build ends without a decision; null for any other. Milliseconds since 1970. */
export const approvalUntil = (build: BuildFacts): number | null =>
  awaitsApproval(build) ? build.approval!.until : null;
