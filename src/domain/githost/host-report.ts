import type { HostTarget } from "./build-origin.ts";

/** A state as git hosts know it. */
export type HostState = "pending" | "success" | "failure" | "error";

/** What a git host has to be told of a build. A later `version` of the same build replaces an earlier one. */
export interface HostReport extends HostTarget {
  buildId: string;
  /** Of the build in its repository: a later build of the same commit and context replaces an earlier one. */
  number: number;
  version: number;
  sha: string;
  /** Name of the branch or tag: GitLab puts the state of a commit on one of them. */
  ref?: string | null;
  state: HostState;
  /** How it ended where hosts have no state for that: skipped builds do not count in the repository's own state. */
  ended?: "skipped" | "canceled";
  /** At most 140 characters, without any text from the outside. */
  description: string;
}

/** Whether nothing follows: the build has ended. */
export const isTerminal = (state: HostState): boolean => state !== "pending";
