import { branchOf, refOf } from "../git-ref.ts";
import type { Arrival, PullAction } from "./arrival.ts";
import type { Arrived, OpenPull, PullArrived } from "./plan-facts.ts";

type PullChange = Extract<Arrival, { kind: "pull" }>;

const ACTIONS: Record<PullAction, PullArrived["action"]> = {
  opened: "opened",
  "new-head": "head",
  reopened: "reopened",
  closed: "closed",
  edited: "edited",
  labeled: "edited",
  ready: "edited",
};

const openPullOf = ({ sha, pull }: PullChange): OpenPull => ({
  number: pull.number,
  ref: refOf(pull.branch),
  base: pull.base,
  sha,
  isDraft: pull.isDraft,
  labels: pull.labels,
  author: pull.author,
  title: pull.title,
});

/**
 * What `plan` takes of a delivery; null where it tells of no ref. `isSkippedSha`: whether an earlier push said of the
 * commit that its author asked for no build, which GitHub and Gitea do not say with a pull request.
 */
export const arrivedOf = (arrival: Arrival, isSkippedSha: (sha: string) => boolean): Arrived | null => {
  switch (arrival.kind) {
    case "push": {
      const { ref, sha, before, forced, changedPaths, isSkipped } = arrival;
      const facts = { sha, before, isForced: forced === true, files: changedPaths, hasSkipMarker: isSkipped };
      return { kind: "push", branch: branchOf(ref), ...facts };
    }
    case "tag":
      return { kind: "tag", tag: arrival.ref.replace("refs/tags/", ""), sha: arrival.sha, before: arrival.before };
    case "deleted":
      return { kind: "gone", ref: arrival.ref, sha: arrival.before };
    case "pull": {
      const { action, before, sha, isSkipped, pull } = arrival;
      const hasSkipMarker = isSkipped || isSkippedSha(sha);
      return {
        ...{ kind: "pull", action: ACTIONS[action], pull: openPullOf(arrival) },
        ...{ before, isFork: pull.isFork, hasSkipMarker },
      };
    }
    case "renamed":
    case "ping":
    case "ignored":
      return null;
  }
};
