import { branchOf, refOf } from "../../domain/git-ref.ts";
import type { On, Supersede } from "../../pipeline/triggers/triggers.ts";
import type { Trust } from "../../protocol/build.ts";
import type { Arrival, PullAction } from "./arrival.ts";

/** An open pull request. */
export interface OpenPull {
  number: number;
  /**
   * The full name of the head: `refs/heads/...`, or for a fork its ref in the repository, such as `refs/pull/7/head`.
   */
  ref: string;
  /** The target branch, by its own name. */
  base: string;
  sha: string;
  isDraft: boolean;
  labels: string[];
  /** The author's login; null if the host did not report it. */
  author: string | null;
  title: string;
}

/** Logins: the sender of a delivery, and the people who are known to have pushed its commits before. */
interface Senders {
  sender: string | null;
  pushers: readonly string[];
}

/**
 * One ref's change in a delivery. `before` is the previous head. It is zeros or null for a new branch, and also null if
 * the host does not report it. `files` are all files that the pushed commits changed; null if the list is incomplete.
 */
export type RefEvent =
  | ({
      kind: "push";
      branch: string;
      sha: string;
      before: string | null;
      isForced: boolean;
      files: string[] | null;
      hasSkipMarker: boolean;
    } & Senders)
  | ({ kind: "tag"; tag: string; sha: string; before: string | null } & Senders)
  | {
      kind: "gone";
      ref: string;
      /** The last head of the ref; null if the host does not report it. */
      sha?: string | null;
    }
  | ({
      kind: "pull";
      /** `head` means a new head. `edited` means any other change of labels, draft, base or title. */
      action: "opened" | "head" | "reopened" | "edited" | "closed";
      pull: OpenPull;
      before: string | null;
      isFork: boolean;
      /**
       * Whether the host reports that the pull request's author may write to the repository, and the author sent this
       * event.
       */
      isByMember: boolean;
      hasSkipMarker: boolean;
    } & Senders)
  | ({ kind: "merge-group"; action: "asked" | "gone"; branch: string; sha: string } & Senders);

export type PushEvent = Extract<RefEvent, { kind: "push" }>;
export type PullEvent = Extract<RefEvent, { kind: "pull" }>;

/**
 * An active pipeline of the repository. `file` is the path of its file; null if the pipeline's record contains its
 * definition.
 */
export interface ActivePipeline {
  id: string;
  file: string | null;
  on: On;
  supersede: Supersede;
}

export interface WantedBuild {
  pipelineId: string;
  event: "push" | "tag" | "pull" | "merge-group";
  /** The full name: `refs/heads/...` or `refs/tags/...`. */
  ref: string;
  sha: string;
  before: string | null;
  /** The pull request to build, or the pull request of the branch. */
  pull: OpenPull | null;
  /** With `read-file`, the agent only reads the file. The build's steps run if that file wants the push. */
  purpose: "build" | "read-file";
  /** Patterns that can be decided only with a complete list of files; otherwise null. */
  undecidedPaths: string[] | null;
  /** Whether this build ends older builds of the pipeline and ref. */
  supersedes: boolean;
  trust: Trust;
  /** Whether a member must approve the commit before it runs. */
  needsApproval: boolean;
}

/** Builds of a pipeline and ref that are no longer needed: all of them, or only those for one pull request. */
export interface EndedRef {
  pipelineId: string;
  /** The full name: `refs/heads/...` or `refs/tags/...`. */
  ref: string;
  pull: number | null;
  /** The last head of a deleted ref. Later builds stay. Absent or null if the head is unknown. */
  sha?: string | null;
}

/** The effects of a delivery. `ignored` explains why there is no build, in words for people. */
export interface Effects {
  builds: WantedBuild[];
  ended: EndedRef[];
  openPull: { remember: OpenPull } | { forget: number } | null;
  ignored: string | null;
  /** Builds above the limit of one delivery. The service does not create them. */
  leftOut: WantedBuild[];
}

/** The host's prefix for branches with merge candidates. A push to such a branch has no author. */
export const MERGE_QUEUE = "gh-readonly-queue/";

/** Reports whether a newer head of a ref, or the ref's end, cancels a pipeline's older builds of the ref. */
export const endsOlder = (supersede: Supersede, ref: string, defaultBranch: string): boolean => {
  if (supersede !== "refs") return supersede === "all";
  return !ref.startsWith("refs/tags/") && !ref.startsWith(refOf(MERGE_QUEUE)) && ref !== refOf(defaultBranch);
};

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

/**
 * Returns the ref of a pull request's head. A fork's branch may have the name of a branch in the repository, so only
 * the pull request's number identifies the head.
 */
export const refOfPull = ({ ref, pull }: Pick<PullChange, "ref" | "pull">): string =>
  pull.isFork ? ref : refOf(pull.branch);

const toOpenPull = ({ ref, sha, pull }: PullChange): OpenPull => ({
  number: pull.number,
  ref: refOfPull({ ref, pull }),
  base: pull.base,
  sha,
  isDraft: pull.isDraft,
  labels: pull.labels,
  author: pull.author,
  title: pull.title,
});

/** Facts that earlier deliveries reported about the commits of this delivery. */
interface EarlierFacts {
  /**
   * Reports whether the author of a commit skips its build. GitHub and Gitea do not report this with a pull request.
   */
  isSkippedSha(sha: string): boolean;
  pushers: readonly string[];
  /** Whether someone other than the pull request's author pushed the head of a fork. */
  isOfAnother: boolean;
}

/** Returns the input of `decideEffects` for a delivery; null if it concerns no ref. */
export const toRefEvent = (arrival: Arrival, { isSkippedSha, pushers, isOfAnother }: EarlierFacts): RefEvent | null => {
  switch (arrival.kind) {
    case "push": {
      const { ref, sha, before, forced, changedPaths, isSkipped, sender } = arrival;
      const facts = { sha, before, isForced: forced === true, files: changedPaths, hasSkipMarker: isSkipped };
      return { kind: "push", branch: branchOf(ref), ...facts, sender, pushers };
    }
    case "tag": {
      const { ref, sha, before, sender } = arrival;
      return { kind: "tag", tag: ref.replace("refs/tags/", ""), sha, before, sender, pushers };
    }
    case "deleted":
      return { kind: "gone", ref: arrival.ref, sha: arrival.before };
    case "pull": {
      const { action, before, sha, isSkipped, pull, sender } = arrival;
      const hasSkipMarker = isSkipped || isSkippedSha(sha);
      return {
        kind: "pull",
        action: ACTIONS[action],
        pull: toOpenPull(arrival),
        before,
        isFork: pull.isFork,
        isByMember: pull.isByMember && !isOfAnother,
        hasSkipMarker,
        sender,
        pushers,
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
