import type { CheckRequest } from "./arrival.ts";
import type { StatusView } from "./host-health.ts";
import { REPOSITORY_CONTEXT } from "./statuses.ts";

const APPROVE = /^approve:(0|[1-9]\d{0,5})$/;

/** Returns the name of a button that approves a gate. It has at most 20 characters, GitHub's limit. */
export const approvalName = (index: number): string => `approve:${index}`;

/**
 * Returns the position of the gate's job in its build, from the name of a gate's button. Returns null for any other
 * name.
 */
const parseApprovalName = (name: string): number | null => {
  const [, index] = APPROVE.exec(name) ?? [];
  return index === undefined ? null : Number(index);
};

/** The action that a person requested at the host. Without an action, the reason in words for people. */
type Wish = { rerun: string[] } | { approve: { buildId: string; index: number } } | { nothing: string };

/**
 * Decides on an action. The action concerns the newest builds of the commit, or nothing.
 * @param views The states of those builds as reported to the host.
 */
export const toWish = (request: CheckRequest, views: StatusView[]): Wish => {
  const newest = views.filter(({ context }) => context !== REPOSITORY_CONTEXT);
  const { externalId } = request;
  if (externalId !== null && !newest.some(({ buildId }) => buildId === externalId)) {
    return { nothing: "the check does not belong to the newest build" };
  }
  if (request.kind === "pressed") {
    const index = parseApprovalName(request.button);
    return index === null ? { nothing: "the button is unknown" } : { approve: { buildId: request.externalId, index } };
  }
  if (externalId !== null) return { rerun: [externalId] };
  const failed = newest.filter(({ state }) => state === "failure" || state === "error").map(({ buildId }) => buildId);
  return failed.length > 0 ? { rerun: failed } : { nothing: "no build of the commit failed" };
};
