import { branchOf, refOf } from "../../domain/git-ref.ts";
import { isRefIn, isTouched } from "../../domain/patterns.ts";
import { parseTriggers } from "../../pipeline/triggers/stored-triggers.ts";
import type { On } from "../../pipeline/triggers/triggers.ts";
import type { Arrival } from "./arrival.ts";
import type { OpenPull } from "./effect-facts.ts";

export const NO_PIPELINE = "there is no active pipeline";
const UNWANTED_BRANCH = "no pipeline builds this branch";

interface Repository {
  defaultBranch: string;
  /** The address of the repository's page in the dashboard. */
  address: string;
}

/** Explains why there is no build, with facts that a person cannot see at the host. */
export const explainReason = (reason: string, arrival: Arrival, { defaultBranch, address }: Repository): string => {
  if (reason === NO_PIPELINE) return `${NO_PIPELINE}: add one at ${address}`;
  if (reason !== UNWANTED_BRANCH || arrival.kind !== "push") return reason;
  const there = arrival.repository.defaultBranch;
  if (there === null || there === defaultBranch || arrival.ref !== refOf(there)) return reason;
  return `${UNWANTED_BRANCH}: ${there} is the default branch at the host, but here it is ${defaultBranch}`;
};

/**
 * Whether an event triggers a pipeline. A yes has the paths that are still undecided. A no has its closeness, because
 * people see the closest reason.
 */
export type TriggerMatch =
  | { isWanted: true; undecidedPaths: string[] | null }
  | { isWanted: false; near: number; reason: string };

const YES: TriggerMatch = { isWanted: true, undecidedPaths: null };
const no = (near: number, reason: string): TriggerMatch => ({ isWanted: false, near, reason });

/** Returns the first patterns, for one line of text. */
const firstPatterns = (patterns: string[]): string =>
  `${patterns
    .slice(0, 3)
    .map((one) => one.slice(0, 60))
    .join(", ")}${patterns.length > 3 ? " ..." : ""}`;

const byPaths = (paths: string[] | null, files: readonly string[] | null): TriggerMatch => {
  const touched = paths === null || isTouched(paths, files);
  if (touched === null) return { isWanted: true, undecidedPaths: paths };
  return touched ? YES : no(4, `no file matching ${firstPatterns(paths ?? [])} changed`);
};

const isOneOf = (patterns: string[] | null, name: string): boolean => patterns === null || isRefIn(patterns, name);

/** Reports whether a pipeline wants a push of a branch. `files` is null if the list is incomplete. */
export const wantsPush = (
  { push }: On,
  { branch, isDefault, files }: { branch: string; isDefault: boolean; files: readonly string[] | null },
): TriggerMatch => {
  if (!push) return no(0, "no pipeline builds pushes");
  const isBranch = push.branches === "default" ? isDefault : isOneOf(push.branches, branch);
  return isBranch ? byPaths(push.paths, files) : no(1, UNWANTED_BRANCH);
};

export const wantsTag = ({ tag }: On, name: string): TriggerMatch => {
  if (!tag) return no(0, "no pipeline builds tags");
  return isOneOf(tag.names, name) ? YES : no(1, "no pipeline builds this tag");
};

/**
 * Reports whether a pipeline wants a pull request. No host lists the files of a pull request, so the files of its last
 * push can only lead to yes.
 */
export const wantsPull = ({ pull: wanted }: On, pull: OpenPull, files: readonly string[] | null): TriggerMatch => {
  if (!wanted) return no(0, "no pipeline builds pull requests");
  if (!isOneOf(wanted.base, pull.base)) return no(2, "no pipeline builds pull requests into this branch");
  if (pull.isDraft && !wanted.drafts) return no(3, "the pull request is a draft");
  if (wanted.labels && !wanted.labels.some((label) => pull.labels.includes(label)))
    return no(3, `the pull request has none of these labels: ${firstPatterns(wanted.labels)}`);
  const answer = byPaths(wanted.paths, files);
  return answer.isWanted ? answer : { isWanted: true, undecidedPaths: wanted.paths };
};

export const wantsGroup = ({ mergeGroup }: On): TriggerMatch =>
  mergeGroup ? YES : no(0, "no pipeline builds merge groups");

/** Reports whether a pipeline file wants a push of the default branch. `files` is null if the changes are unknown. */
export const fileWantsPush = (text: string, branch: string, files: readonly string[] | null): boolean => {
  const { value } = parseTriggers(text);
  return value !== undefined && wantsPush(value.on, { branch: branchOf(branch), isDefault: true, files }).isWanted;
};
