import type { JobCause, StopReason } from "../../pipeline/graph/job-end.ts";
import { isEnded } from "../../protocol/build-states.ts";
import { HOUR_MS } from "../../protocol/units.ts";
import type { Gated } from "../state/facts.ts";
import { BuildInProgress, type BuildProgress, type JobOrder, type Order, type SettleInput } from "./in-progress.ts";
import { judgeBuild } from "./outcome.ts";
import { currentCancel, isLeasedJob, type JobView, TOO_LONG } from "./rules.ts";

interface Stop {
  reason: StopReason;
  cause: JobCause;
}

/** Returns why the job must stop, or null if it may run. */
const findStop = (view: JobView, progress: BuildInProgress): Stop | null => {
  const { cancel, input } = progress;
  const { rules, build, now } = input;
  if (view.stopCause)
    return { reason: view.stopCause.kind === "fail-fast" ? "fail-fast" : "canceled", cause: view.stopCause };
  if (cancel && rules.stops(progress.isSpared(view.job), cancel, now)) {
    const text = cancel.isTimeout ? TOO_LONG : (build.message ?? null);
    return { reason: build.supersededBy ? "superseded" : "canceled", cause: { kind: "canceled", job: null, text } };
  }
  const fault = progress.findFault(view);
  return fault && { reason: "fail-fast", cause: { kind: "fail-fast", job: fault.job.key, text: null } };
};

const stopOrder = ({ job, status }: JobView, stop: Stop): JobOrder | null => {
  if (status === "canceling") return null;
  if (status === "queued") return { kind: "withdraw", jobId: job.id, ...stop };
  if (status !== "waiting") return { kind: "stop", jobId: job.id, ...stop };
  return { kind: "end", jobId: job.id, status: "canceled", message: null, ...stop };
};

/** Ends a job whose gate stays closed. */
const closeGate = (jobId: string, { decision, since, until }: Gated): JobOrder => {
  const comment = decision?.comment ?? null;
  const hours = Math.round((until - since) / HOUR_MS);
  const rejected = decision && `${decision.name} rejected it${comment === null ? "." : `: ${comment}`}`;
  return {
    kind: "end",
    jobId,
    status: "failed",
    cause: { kind: "gate", job: null, text: comment },
    reason: "gate-closed",
    message: rejected ?? `Nobody approved it within ${hours} ${hours === 1 ? "hour" : "hours"}.`,
  };
};

const go = ({ job }: JobView): JobOrder =>
  job.hasSteps
    ? { kind: "queue", jobId: job.id }
    : { kind: "end", jobId: job.id, status: "succeeded", cause: null, reason: null, message: null };

/** Decides about a job whose needs have ended and whose gate was not reached yet. */
const judgeFirst = (view: JobView, progress: BuildInProgress): JobOrder => {
  const { job } = view;
  const { now } = progress.input;
  const verdict = progress.judge(job);
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

/** Returns the next order for the job, or null. */
const decideNext = (view: JobView, progress: BuildInProgress): JobOrder | null => {
  const { rules, now } = progress.input;
  if (view.end) return null;
  const stop = findStop(view, progress);
  if (stop) return stopOrder(view, stop);
  if (view.status === "queued" || isLeasedJob(view) || !progress.isReady(view.job)) return null;
  if (!view.gate) return judgeFirst(view, progress);
  if (rules.gateIsOpen(view.gate, now)) return go(view);
  return rules.gateIsOver(view.gate, now) ? closeGate(view.job.id, view.gate) : null;
};

/** Reports whether the job ended in this build after an agent had started it. */
const wasRun = ({ end }: JobView): boolean => end !== null && end.startedAt !== null && !end.isAdopted;

/**
 * Derives a build's status from its jobs. Once its jobs are planned (`until`), the build runs from the first lease of a
 * job until its own end. It does not return to the queue when its only started job gets another try.
 */
const judgeStatus = (
  { status, until }: SettleInput["build"],
  begunJobs: readonly JobView[],
  isCanceled: boolean,
): BuildProgress["status"] => {
  if (isCanceled) return "canceling";
  if (until !== null) return begunJobs.length > 0 || status === "running" ? "running" : "queued";
  if (begunJobs.length === 0) return "queued";
  return begunJobs.every((view) => view.status === "assigned") ? "assigned" : "running";
};

const findStart = (begunJobs: readonly JobView[]): number | null => {
  const starts = begunJobs.flatMap(({ startedAt, end }) => end?.startedAt ?? startedAt ?? []);
  return starts.length > 0 ? Math.min(...starts) : null;
};

/** Derives the progress of a build in which some jobs have not ended. */
const judgeProgress = ({ views, cancel, input }: BuildInProgress): BuildProgress => {
  const { build, now, rules } = input;
  const begunJobs = views.filter((view) => isLeasedJob(view) || wasRun(view));
  const status = judgeStatus(build, begunJobs, cancel !== null);
  const isOwn = cancel !== null || build.until !== null;
  const message = isOwn ? build.message : views.find(({ end, message: said }) => !end && said !== null)?.message;
  const keepsPlace = build.holdsPlace && (build.plannedBy !== undefined || views.some(wasRun));
  return {
    status,
    startedAt:
      status === "queued" || status === "assigned"
        ? null
        : (build.startedAt ?? findStart(begunJobs) ?? (status === "running" ? now : null)),
    message: message ?? null,
    holdsPlace: rules.holdsPlace(keepsPlace, views),
  };
};

const isSameProgress = (
  one: BuildProgress,
  { status, startedAt, message, holdsPlace }: SettleInput["build"],
): boolean =>
  one.status === status &&
  one.startedAt === startedAt &&
  one.message === (message ?? null) &&
  one.holdsPlace === holdsPlace;

/** Returns all orders for a build. Settling the build again would give no more orders. */
export const settle = (input: SettleInput): Order[] => {
  const { build, now, rules } = input;
  if (isEnded(build.status)) return [];
  const cancel = currentCancel(build, now);
  const progress = new BuildInProgress(input, cancel);
  const { views } = progress;
  const orders: Order[] = [];
  for (let hasChanged = true; hasChanged; ) {
    hasChanged = false;
    for (const view of views) {
      const order = decideNext(view, progress);
      if (!order) continue;
      progress.apply(view, order);
      orders.push(order);
      hasChanged = true;
    }
  }
  if (rules.buildIsOver(views)) return [...orders, { kind: "end-build", ...judgeBuild(views, build, cancel, rules) }];
  const next = judgeProgress(progress);
  return isSameProgress(next, build) ? orders : [...orders, { kind: "build", ...next }];
};
