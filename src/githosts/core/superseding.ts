import { refOf } from "../../domain/git-ref.ts";
import type { Supersede } from "../../pipeline/triggers/triggers.ts";

/** Where a host tries what it is about to merge; a push to such a branch is no push of anybody. */
export const MERGE_QUEUE = "gh-readonly-queue/";

/** Whether a newer head of a ref, or its end, ends the builds that a pipeline still has for it. */
export const endsOlder = (supersede: Supersede, ref: string, defaultBranch: string): boolean => {
  if (supersede !== "refs") return supersede === "all";
  return !ref.startsWith("refs/tags/") && !ref.startsWith(refOf(MERGE_QUEUE)) && ref !== refOf(defaultBranch);
};
