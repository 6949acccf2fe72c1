import type { Marks } from "./marks.ts";
import type { Comment } from "./out.ts";
import type { Source } from "./source.ts";
import { find, lineOf, type Token, textOf } from "./tokens.ts";
import type { Events } from "./triggers.ts";

/* `concurrency` of a workflow, as `supersede`. */

const NAME = String.raw`\$\{\{\s*github\.workflow\s*\}\}|[\w./-]+`;
const groupOf = (inner: string): RegExp =>
  new RegExp(`^(?:(?:${NAME})-?)?\\$\\{\\{\\s*(?:${inner})\\s*\\}\\}(?:-(?:${NAME}))?$`);

/** One group a ref: a pull request's is its own. */
const BY_REF = groupOf(String.raw`github\.ref|github\.ref_name|github\.head_ref\s*\|\|\s*github\.ref(?:_name)?`);
/** One group a pull request, and one a run of all else. */
const BY_PULL = groupOf(
  String.raw`github\.head_ref\s*\|\|\s*github\.run_id|github\.event\.pull_request\.number\s*\|\|\s*github\.(?:run_id|sha)`,
);
const BY_NUMBER = groupOf(String.raw`github\.event\.pull_request\.number\s*\|\|\s*github\.ref(?:_name)?`);

interface Superseding {
  supersede: "all" | "none";
  mark?: Comment;
}

/** Whose older builds end. Without `concurrency` none do; in a file without the key most would. */
export const supersedingOf = (
  concurrency: Token | undefined,
  events: Events,
  source: Source,
  marks: Marks,
): Superseding => {
  if (!concurrency) return { supersede: "none" };
  const group = textOf(find(concurrency, "group") ?? concurrency, source).trim();
  const cancel = find(concurrency, "cancel-in-progress");
  const cancels = cancel ? textOf(cancel, source).trim() : "false";
  const onlyPulls = events.names.every((name) => name === "pull_request" || name === "workflow_dispatch");
  const isOfRef = BY_REF.test(group) || BY_NUMBER.test(group) || (onlyPulls && BY_PULL.test(group));
  if (cancels === "true" && isOfRef) return { supersede: "all" };
  const isOfPulls = cancels === "true" && BY_PULL.test(group);
  const instead = isOfPulls ? " (`supersede: refs` ends older builds of every branch but the default one)" : "";
  const line = lineOf(concurrency);
  return {
    supersede: "none",
    mark: marks.add("concurrency", `the group ${group}${instead}`, line, source.lines(concurrency, line)),
  };
};
