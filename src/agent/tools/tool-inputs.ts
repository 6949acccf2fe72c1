import type { ToolsTemplate } from "../../pipeline/parse/plan.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Fetched } from "../checkout/checkout.ts";
import { textsInCommit } from "../checkout/commit-file.ts";
import { defaultBranchOf, type Remote } from "../checkout/remote.ts";
import { LOCK_FILE } from "./lock-file.ts";
import { VERSION_FILES } from "./version-files.ts";

/** What the repository says for its tools. */
export interface ToolInputs {
  /** Texts of the files that name tools, by their paths. */
  texts: ReadonlyMap<string, string>;
  /** The default branch, as the repository's host tells it. */
  defaultRef: string | null;
}

/** Files whose texts are read for tools. */
export const TOOL_FILES = [...VERSION_FILES, LOCK_FILE];

/** Bytes of such a file. */
export const TOOL_FILE_BYTES = LIMITS.definitionCharacters;

/** Read before the steps' user gets the checkout: git does not run in it after that. */
export const toolInputs = async (
  tools: ToolsTemplate | null,
  remote: Remote,
  { commitSha }: Fetched,
): Promise<ToolInputs> => {
  if (tools === null) return { texts: new Map(), defaultRef: null };
  const texts = await textsInCommit(remote.gitContext, commitSha, TOOL_FILES, TOOL_FILE_BYTES);
  return { texts, defaultRef: await defaultBranchOf(remote) };
};
