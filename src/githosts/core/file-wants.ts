import { branchOf } from "../../domain/git-ref.ts";
import { parseTriggers } from "../../pipeline/triggers/stored-triggers.ts";
import { wantsPush } from "./wants.ts";

/** Whether a pipeline file wants a push of the default branch. `files` is null where it is not known what changed. */
export const fileWantsPush = (text: string, branch: string, files: readonly string[] | null): boolean => {
  const { value } = parseTriggers(text);
  return value !== undefined && wantsPush(value.on, { branch: branchOf(branch), isDefault: true, files }).isWanted;
};
