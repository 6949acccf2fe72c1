import { branchOf, refOf } from "../../domain/git-ref.ts";
import type { On, Supersede } from "../../pipeline/triggers/triggers.ts";
import type { Trust } from "../../protocol/build.ts";
import type { Arrival, PullAction } from "./arrival.ts";

/** An open pull request. */
export interface OpenPull {
  number: number;
  /** The head's whole name: `refs/heads/...`, or of a fork the one at the repository: `refs/pull/7/head`. */
  ref: string;
  /** The branch that it is to be merged into, by its own name. */
  base: string;
  sha: string;
  isDraft: boolean;
  labels: string[];
  /** Null where the host did not tell it. */
  author: string | null;
  title: string;
}

/** Logins: of who did what a delivery tells, and of those who are known to have pushed what it brings before. */
interface Senders {
  sender: string | null;
  pushers: readonly string[];
}

/**
 * What a delivery tells of one ref. `before` is the head before it: zeros or null for a new branch, null also where
 * the host does not tell it. `files` are all files that the pushed commits changed, null when the list is not whole.
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
      /** The head that it had; null where the host does not tell it. */
      sha?: string | null;
    }
  | ({
      kind: "pull";
      /** `head`: it has a new head. `edited`: anything else about it: labels, draft, base, title. */
      action: "opened" | "head" | "reopened" | "edited" | "closed";
      pull: OpenPull;
      before: string | null;
      isFork: boolean;
      /** The host says that its author may write to the repository, and sent this. */
      isByMember: boolean;
      hasSkipMarker: boolean;
    } & Senders)
  | ({ kind: "merge-group"; action: "asked" | "gone"; branch: string; sha: string } & Senders);

export type PushEvent = Extract<RefEvent, { kind: "push" }>;
export type PullEvent = Extract<RefEvent, { kind: "pull" }>;

/** An active pipeline of the repository. `file` is the path of its file, null when its definition is in its record. */
export interface ActivePipeline {
  id: string;
  file: string | null;
  on: On;
  supersede: Supersede;
}

export interface WantedBuild {
  pipelineId: string;
  event: "push" | "tag" | "pull" | "merge-group";
  /** The whole name: `refs/heads/...` or `refs/tags/...`. */
  ref: string;
  sha: string;
  before: string | null;
  /** The pull request that it is for, or that its branch has. */
  pull: OpenPull | null;
  /** `read-file`: only the file is read, and its steps run if what it says by then wants the push. */
  purpose: "build" | "read-file";
  /** Patterns that no whole list of files could decide on; null when there are none. */
  undecidedPaths: string[] | null;
  /** Whether older builds of the pipeline and ref end. */
  supersedes: boolean;
  trust: Trust;
  /** Whether nobody runs it before a member has approved its commit. */
  needsApproval: boolean;
}

/** Builds of a pipeline and ref that are of no use any more: all of them, or those for one pull request. */
export interface EndedRef {
  pipelineId: string;
  /** The whole name: `refs/heads/...` or `refs/tags/...`. */
  ref: string;
  pull: number | null;
  /** The head that a deleted ref had: later ones stay. Absent or null where that is not known. */
  sha?: string | null;
}

/** What comes of a delivery. `ignored` says why there is no build, in words for people. */
export interface Effects {
  builds: WantedBuild[];
  ended: EndedRef[];
  openPull: { remember: OpenPull } | { forget: number } | null;
  ignored: string | null;
  /** Those above the limit of one delivery, which are not made. */
  leftOut: WantedBuild[];
}

/** Where a host tries what it is about to merge; a push to such a branch is no push of anybody. */
export const MERGE_QUEUE = "gh-readonly-queue/";

/** Whether a newer head of a ref, or its end, ends the builds that a pipeline still has for it. */
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

/** A branch of a fork may have the name of one of the repository: its head is known by the number alone. */
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

/** What earlier deliveries told of the commits of this one. */
interface EarlierFacts {
  /** Whether its author asked for no build, which GitHub and Gitea do not say with a pull request. */
  isSkippedSha(sha: string): boolean;
  pushers: readonly string[];
  /** Somebody else than its author pushed the head of a fork. */
  isOfAnother: boolean;
}

/** What `decideEffects` takes of a delivery; null where it tells of no ref. */
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
