import { isEnded } from "../../protocol/build-states.ts";
import { cancelOf } from "./cancel.ts";
import { BuildInProgress, type SettleInput } from "./in-progress.ts";
import { isLeasedJob, type JobView } from "./job-view.ts";
import { nextOf } from "./next.ts";
import { outcomeOf } from "./outcome.ts";
import type { BuildProgress, Order } from "./settle-orders.ts";

/** Whether an agent had the job in this build, and nobody has to run it again. */
const wasRun = ({ end }: JobView): boolean => end !== null && end.startedAt !== null && !end.isAdopted;

/**
 * What a build shows of its jobs. Once they are planned (`until`), it runs from the first lease of one of them to its
 * end: it does not go back to the queue because the only one that had begun is tried again.
 */
const statusOf = (
  { status, until }: SettleInput["build"],
  begun: readonly JobView[],
  isCanceled: boolean,
): BuildProgress["status"] => {
  if (isCanceled) return "canceling";
  if (until !== null) return begun.length > 0 || status === "running" ? "running" : "queued";
  if (begun.length === 0) return "queued";
  return begun.every((view) => view.status === "assigned") ? "assigned" : "running";
};

const startOf = (begun: readonly JobView[]): number | null => {
  const starts = begun.flatMap(({ startedAt, end }) => end?.startedAt ?? startedAt ?? []);
  return starts.length > 0 ? Math.min(...starts) : null;
};

/** What follows for a build from jobs that have not all ended. */
const progressOf = ({ views, cancel, input }: BuildInProgress): BuildProgress => {
  const { build, now, rules } = input;
  const begun = views.filter((view) => isLeasedJob(view) || wasRun(view));
  const status = statusOf(build, begun, cancel !== null);
  const isOwn = cancel !== null || build.until !== null;
  const message = isOwn ? build.message : views.find(({ end, message: said }) => !end && said !== null)?.message;
  const keepsPlace = build.holdsPlace && (build.plannedBy !== undefined || views.some(wasRun));
  return {
    status,
    startedAt:
      status === "queued" || status === "assigned"
        ? null
        : (build.startedAt ?? startOf(begun) ?? (status === "running" ? now : null)),
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

/** What is to be done about a build, to the last: settling again finds nothing. */
export const settle = (input: SettleInput): Order[] => {
  const { build, now, rules } = input;
  if (isEnded(build.status)) return [];
  const cancel = cancelOf(build, now);
  const progress = new BuildInProgress(input, cancel);
  const { views } = progress;
  const orders: Order[] = [];
  for (let changed = true; changed; ) {
    changed = false;
    for (const view of views) {
      const order = nextOf(view, progress);
      if (!order) continue;
      progress.apply(view, order);
      orders.push(order);
      changed = true;
    }
  }
  if (rules.buildIsOver(views)) return [...orders, { kind: "end-build", ...outcomeOf(views, build, cancel, rules) }];
  const next = progressOf(progress);
  return isSameProgress(next, build) ? orders : [...orders, { kind: "build", ...next }];
};
