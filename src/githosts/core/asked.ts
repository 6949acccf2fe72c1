import { approvalIndexOf } from "./approval-name.ts";
import type { AskedAtHost } from "./arrival.ts";
import type { StatusView } from "./host-health.ts";
import { REPOSITORY_CONTEXT } from "./statuses.ts";

/** What a person asked for at the host, as it can be done; or why nothing is, in words for people. */
type Wish = { rerun: string[] } | { approve: { buildId: string; index: number } } | { nothing: string };

/** Of a commit, what was told of its newest builds: what the host shows is about them or about none. */
export const wishOf = (asked: AskedAtHost, views: StatusView[]): Wish => {
  const newest = views.filter(({ context }) => context !== REPOSITORY_CONTEXT);
  const { externalId } = asked;
  if (externalId !== null && !newest.some(({ buildId }) => buildId === externalId)) {
    return { nothing: "the check is not the one of the newest build" };
  }
  if (asked.kind === "pressed") {
    const index = approvalIndexOf(asked.button);
    return index === null
      ? { nothing: "the button is none of ours" }
      : { approve: { buildId: asked.externalId, index } };
  }
  if (externalId !== null) return { rerun: [externalId] };
  const failed = newest.filter(({ state }) => state === "failure" || state === "error").map(({ buildId }) => buildId);
  return failed.length > 0 ? { rerun: failed } : { nothing: "no build of the commit failed" };
};
