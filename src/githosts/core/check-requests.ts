import type { CheckRequest } from "./arrival.ts";
import type { StatusView } from "./host-health.ts";
import { REPOSITORY_CONTEXT } from "./statuses.ts";

const APPROVE = /^approve:(0|[1-9]\d{0,5})$/;

/** The name of a button that approves a gate: at most 20 characters, as GitHub takes them. */
export const approvalName = (index: number): string => `approve:${index}`;

/** The place of the gate's job in its build; null for the name of something else. */
const parseApprovalName = (name: string): number | null => {
  const [, index] = APPROVE.exec(name) ?? [];
  return index === undefined ? null : Number(index);
};

/** What is to be done for a person who asked at the host; or why nothing is, in words for people. */
type Wish = { rerun: string[] } | { approve: { buildId: string; index: number } } | { nothing: string };

/**
 * Decides what is to be done: what the host shows is about the newest builds of the commit, or about none.
 * @param views What the host was told of those builds.
 */
export const toWish = (request: CheckRequest, views: StatusView[]): Wish => {
  const newest = views.filter(({ context }) => context !== REPOSITORY_CONTEXT);
  const { externalId } = request;
  if (externalId !== null && !newest.some(({ buildId }) => buildId === externalId)) {
    return { nothing: "the check is not the one of the newest build" };
  }
  if (request.kind === "pressed") {
    const index = parseApprovalName(request.button);
    return index === null
      ? { nothing: "the button is none of ours" }
      : { approve: { buildId: request.externalId, index } };
  }
  if (externalId !== null) return { rerun: [externalId] };
  const failed = newest.filter(({ state }) => state === "failure" || state === "error").map(({ buildId }) => buildId);
  return failed.length > 0 ? { rerun: failed } : { nothing: "no build of the commit failed" };
};
