import { type BuildStatus, isEnded } from "../../protocol/build-states.ts";
import { cancelOf } from "./cancel.ts";
import { BuildInProgress, type SettleInput } from "./in-progress.ts";
import { isLeasedJob } from "./job-view.ts";
import { nextOf } from "./next.ts";
import { outcomeOf } from "./outcome.ts";
import type { Order } from "./settle-orders.ts";

/** The status that a build with jobs to end has to get; null where it has it. */
const nextStatus = (status: BuildStatus, isCanceled: boolean, isLeased: boolean): "running" | "canceling" | null => {
  if (isCanceled) return status === "canceling" ? null : "canceling";
  return isLeased && status !== "running" ? "running" : null;
};

/** What is to be done about a build of several jobs, to the last: settling again finds nothing. */
export const settle = (input: SettleInput): Order[] => {
  const { build, now, rules } = input;
  if (isEnded(build.status)) return [];
  const cancel = cancelOf(build.several, now);
  const progress = new BuildInProgress(input, cancel);
  const orders: Order[] = [];
  for (let changed = true; changed; ) {
    changed = false;
    for (const view of progress.views) {
      const order = nextOf(view, progress);
      if (!order) continue;
      progress.apply(view, order);
      orders.push(order);
      changed = rules.goesOn(true);
    }
  }
  const { views } = progress;
  const holdsPlace = rules.holdsPlace(build.several.holdsPlace, views);
  if (holdsPlace !== build.several.holdsPlace) orders.push({ kind: "place", holdsPlace });
  if (rules.buildIsOver(views)) return [...orders, { kind: "end-build", ...outcomeOf(views, build, cancel, rules) }];
  const status = nextStatus(build.status, cancel !== null, views.some(isLeasedJob));
  if (status) orders.push({ kind: "build", status });
  return orders;
};
