import type { JobEnd } from "../../pipeline/graph/job-end.ts";
import type { EndedStatus } from "../../protocol/build-states.ts";
import { TOO_LONG } from "./cancel.ts";
import type { BuildView, JobView } from "./job-view.ts";
import type { BuildCancel, JobRules } from "./rules.ts";

interface Outcome extends Pick<JobEnd, "exitCode" | "reason" | "message"> {
  status: EndedStatus;
}

/** The job that ended first, in the order of the graph where two ended at once. */
export const firstEnded = (views: readonly JobView[]): JobView | undefined =>
  views.toSorted((left, right) => (left.end?.finishedAt ?? 0) - (right.end?.finishedAt ?? 0))[0];

const named = (keys: readonly string[], words: string): string | null =>
  keys.length === 0
    ? null
    : `${keys.length} ${keys.length === 1 ? "job" : "jobs"} ${words}: ${keys.slice(0, 5).join("; ")}.`;

const forgiven = (views: readonly JobView[]): string | null => {
  const keys = views.filter(({ status }) => status === "failed").map(({ job }) => job.key);
  return named(keys, "may fail, and did");
};

/** What people should know of a build that succeeded all the same. */
const blemishes = (views: readonly JobView[]): string | null => {
  const unsteady = views.filter(({ status, retries }) => status === "succeeded" && retries > 0);
  const tried = named(
    unsteady.map(({ job }) => job.key),
    "passed after a failed try",
  );
  return [forgiven(views), tried].filter((said) => said !== null).join(" ") || null;
};

/** How a build ends whose jobs have ended: as the job that ended first among those that decided. */
export const outcomeOf = (
  views: readonly JobView[],
  build: BuildView,
  cancel: BuildCancel | null,
  rules: JobRules,
): Outcome => {
  const status = rules.buildOutcome(views, cancel);
  if (cancel?.isTimeout) return { status, exitCode: null, reason: "timeout", message: TOO_LONG };
  if (status === "succeeded") {
    const said = views.find(({ end }) => end?.message)?.end?.message ?? null;
    return { status, exitCode: 0, reason: null, message: blemishes(views) ?? said };
  }
  const decisive = views.filter((view) => view.status === status && !(status === "failed" && view.job.mayFail));
  const { exitCode = null, reason = null, message = null } = firstEnded(decisive)?.end ?? {};
  if (!cancel) return { status, exitCode, reason, message };
  return {
    status,
    exitCode,
    reason: build.supersededBy ? "superseded" : "canceled",
    message: build.message ?? message,
  };
};
