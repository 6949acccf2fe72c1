import type { On, Supersede } from "../../pipeline/triggers/triggers.ts";
import type { Trust } from "../../protocol/build.ts";

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
