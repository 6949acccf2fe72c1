import type { BuildOrigin } from "../../githosts/core/build-origin.ts";
import { isQueued } from "../../protocol/build-states.ts";
import type { BuildFacts } from "../state/facts.ts";

/**
 * What made a build under way, once its head arrives for a pull request too; null where that is no news. One that nobody
 * has begun is as if the pull request had come first; one that was begun goes on as it is, and belongs to it.
 */
export const withPull = (
  { origin, status, until }: BuildFacts,
  { event, pull, paths }: BuildOrigin,
): BuildOrigin | null => {
  if (!origin || !pull || origin.event !== "push") return null;
  if (event === "pull" && isQueued(status) && until === null) return { ...origin, event, pull, paths };
  return origin.pull ? null : { ...origin, pull };
};
