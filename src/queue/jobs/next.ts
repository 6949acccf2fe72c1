import type { JobCause, StopReason } from "../../pipeline/graph/job-end.ts";
import type { Gated } from "../state/facts.ts";
import { TOO_LONG } from "./cancel.ts";
import type { BuildInProgress } from "./in-progress.ts";
import { isLeasedJob, type JobView } from "./job-view.ts";
import type { JobOrder } from "./settle-orders.ts";

const HOUR_MS = 60 * 60 * 1000;

interface Stop {
  reason: StopReason;
  cause: JobCause;
}

/** Why the job must not run any longer; null where it may. */
const stopOf = (view: JobView, progress: BuildInProgress): Stop | null => {
  const { cancel, input } = progress;
  const { rules, build, now } = input;
  if (view.stopCause)
    return { reason: view.stopCause.kind === "fail-fast" ? "fail-fast" : "canceled", cause: view.stopCause };
  if (cancel && rules.stops(progress.isSpared(view.job), cancel, now)) {
    const text = cancel.isTimeout ? TOO_LONG : (build.message ?? null);
    return { reason: build.supersededBy ? "superseded" : "canceled", cause: { kind: "canceled", job: null, text } };
  }
  const fault = progress.faultOf(view);
  return fault && { reason: "fail-fast", cause: { kind: "fail-fast", job: fault.job.key, text: null } };
};

const stopOrder = ({ job, status }: JobView, stop: Stop): JobOrder | null => {
  if (status === "canceling") return null;
  if (status === "queued") return { kind: "withdraw", jobId: job.id, ...stop };
  if (status !== "waiting") return { kind: "stop", jobId: job.id, ...stop };
  return { kind: "end", jobId: job.id, status: "canceled", message: null, ...stop };
};

/** How a job ends whose gate stays closed. */
const closed = (jobId: string, { decision, since, until }: Gated): JobOrder => {
  const said = decision?.comment ?? null;
  const hours = Math.round((until - since) / HOUR_MS);
  const rejected = decision && `${decision.name} rejected it${said === null ? "." : `: ${said}`}`;
  return {
    kind: "end",
    jobId,
    status: "failed",
    cause: { kind: "gate", job: null, text: said },
    reason: "gate-closed",
    message: rejected ?? `Nobody approved it within ${hours} ${hours === 1 ? "hour" : "hours"}.`,
  };
};

const go = ({ job }: JobView): JobOrder =>
  job.hasSteps
    ? { kind: "queue", jobId: job.id }
    : { kind: "end", jobId: job.id, status: "succeeded", cause: null, reason: null, message: null };

/** What comes of a job that nobody has asked about yet. */
const firstOf = (view: JobView, progress: BuildInProgress): JobOrder => {
  const { job } = view;
  const { now } = progress.input;
  const verdict = progress.verdictOf(job);
  if (verdict.kind === "invalid")
    return {
      kind: "end",
      jobId: job.id,
      status: "failed",
      cause: verdict.cause,
      reason: "pipeline-invalid",
      message: verdict.message,
    };
  if (verdict.kind !== "run")
    return { kind: "end", jobId: job.id, status: verdict.kind, cause: verdict.cause, reason: null, message: null };
  if (job.gate) return { kind: "ask", jobId: job.id, until: now + job.gate.timeoutHours * HOUR_MS };
  return go(view);
};

/** What is to be done about the job now; null where nothing is. */
export const nextOf = (view: JobView, progress: BuildInProgress): JobOrder | null => {
  const { rules, now } = progress.input;
  if (view.end) return null;
  const stop = stopOf(view, progress);
  if (stop) return stopOrder(view, stop);
  if (view.status === "queued" || isLeasedJob(view) || !progress.isReady(view.job)) return null;
  if (!view.gate) return firstOf(view, progress);
  if (rules.gateIsOpen(view.gate, now)) return go(view);
  return rules.gateIsOver(view.gate, now) ? closed(view.job.id, view.gate) : null;
};
