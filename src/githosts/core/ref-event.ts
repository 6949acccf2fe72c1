import { branchOf, refOf } from "../../domain/git-ref.ts";
import type { Arrival, PullAction } from "./arrival.ts";
import type { OpenPull, PullEvent, RefEvent } from "./effect-facts.ts";

type PullChange = Extract<Arrival, { kind: "pull" }>;

const ACTIONS: Record<PullAction, PullEvent["action"]> = {
  opened: "opened",
  "new-head": "head",
  reopened: "reopened",
  closed: "closed",
  edited: "edited",
  labeled: "edited",
  ready: "edited",
};

/** A branch of a fork may have the name of one of the repository: its head is known by the number alone. */
export const refOfPull = ({ ref, pull }: Pick<PullChange, "ref" | "pull">): string =>
  pull.isFork ? ref : refOf(pull.branch);

const openPullOf = ({ ref, sha, pull }: PullChange): OpenPull => ({
  number: pull.number,
  ref: refOfPull({ ref, pull }),
  base: pull.base,
  sha,
  isDraft: pull.isDraft,
  labels: pull.labels,
  author: pull.author,
  title: pull.title,
});

const headOf = ({ sha, before }: { sha: string; before: string | null }) => ({ sha, before });

/** What earlier deliveries told of the commits of this one. */
interface Earlier {
  /** Whether its author asked for no build, which GitHub and Gitea do not say with a pull request. */
  isSkippedSha(sha: string): boolean;
  pushers: readonly string[];
  /** Somebody else than its author pushed the head of a fork. */
  isOfAnother: boolean;
}

/** What `effectsOf` takes of a delivery; null where it tells of no ref. */
export const refEventOf = (arrival: Arrival, { isSkippedSha, pushers, isOfAnother }: Earlier): RefEvent | null => {
  switch (arrival.kind) {
    case "push": {
      const { ref, sha, before, forced, changedPaths, isSkipped, sender } = arrival;
      const facts = { sha, before, isForced: forced === true, files: changedPaths, hasSkipMarker: isSkipped };
      return { kind: "push", branch: branchOf(ref), ...facts, sender, pushers };
    }
    case "tag":
      return {
        ...{ kind: "tag", tag: arrival.ref.replace("refs/tags/", ""), ...headOf(arrival) },
        ...{ sender: arrival.sender, pushers },
      };
    case "deleted":
      return { kind: "gone", ref: arrival.ref, sha: arrival.before };
    case "pull": {
      const { action, before, sha, isSkipped, pull, sender } = arrival;
      const hasSkipMarker = isSkipped || isSkippedSha(sha);
      return {
        ...{ kind: "pull", action: ACTIONS[action], pull: openPullOf(arrival) },
        ...{ before, isFork: pull.isFork, isByMember: pull.isByMember && !isOfAnother, hasSkipMarker },
        ...{ sender, pushers },
      };
    }
    case "merge-group": {
      const { action, sha, sender } = arrival;
      return { kind: "merge-group", action, branch: branchOf(arrival.ref), sha, sender, pushers };
    }
    case "rerun":
    case "pressed":
    case "renamed":
    case "ping":
    case "ignored":
      return null;
  }
};
