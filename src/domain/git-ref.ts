const FULL_REF = /^refs\/(?:tags|pull|merge-requests)\//;

/**
 * Returns why a text is neither a branch name nor a full `refs/tags/...`, `refs/pull/...` or `refs/merge-requests/...`;
 * null if it is one. The rules are those of git-check-ref-format(1).
 */
export const branchProblem = (text: string): string | null => {
  if (text === "") return "must not be empty";
  if (!text.isWellFormed()) return "must be valid Unicode";
  if (text.startsWith("-")) return "must not begin with -";
  if (text.startsWith("refs/") && !FULL_REF.test(text))
    return "must be a branch name, refs/tags/..., refs/pull/... or refs/merge-requests/...";
  if (text === "@" || text === "HEAD") return "must be a branch name";
  if (/[\x00-\x20\x7f~^:?*[\\]/.test(text)) return "must not have spaces, control characters or any of ~ ^ : ? * [ \\";
  if (text.includes("..") || text.includes("@{")) return "must not have .. or @{";
  if (text.endsWith(".")) return "must not end with a dot";
  for (const part of text.split("/")) {
    if (part === "") return "must not begin or end with / or have //";
    if (part.startsWith(".")) return "must not have a part that begins with a dot";
    if (part.endsWith(".lock")) return "must not have a part that ends with .lock";
  }
  return null;
};

const HEADS = "refs/heads/";

/** Returns the full name of a build's branch: `refs/heads/main` for `main`. A full ref stays the same. */
export const refOf = (branch: string): string => (branch.startsWith("refs/") ? branch : HEADS + branch);

/** The reverse of `refOf`. Returns a branch by its own name, and any other ref in full. */
export const branchOf = (ref: string): string => (ref.startsWith(HEADS) ? ref.slice(HEADS.length) : ref);

const TAGS = "refs/tags/";

/**
 * Returns the full refs that a person may mean, because a branch and a tag may share a name. A full ref means itself.
 */
export const refsNamed = (name: string): string[] => (name.startsWith("refs/") ? [name] : [HEADS + name, TAGS + name]);

/** Returns the tag in a build's branch field; null if the field does not contain a tag. */
export const tagOf = (branch: string): string | null => (branch.startsWith(TAGS) ? branch.slice(TAGS.length) : null);
