import type { On } from "./triggers.ts";

/** Patterns as people read them; the first three of a long list. */
const listed = (patterns: string[]): string => {
  const shown = patterns.slice(0, 3).join(", ");
  return patterns.length > 3 ? `${shown} and ${patterns.length - 3} more` : shown;
};

const touching = (paths: string[] | null): string => (paths ? ` that change ${listed(paths)}` : "");

const pushWords = ({ branches, paths }: NonNullable<On["push"]>): string => {
  if (branches === "default") return `pushes of the default branch${touching(paths)}`;
  return `pushes of ${branches ? listed(branches) : "any branch"}${touching(paths)}`;
};

const pullWords = ({ base, paths, drafts, labels }: NonNullable<On["pull"]>): string =>
  [
    "pull requests",
    base && ` into ${listed(base)}`,
    labels && ` with the label ${labels.slice(0, 3).join(" or ")}${labels.length > 3 ? " or others" : ""}`,
    touching(paths),
    !drafts && ", but no drafts",
  ]
    .filter(Boolean)
    .join("");

const eventsOf = ({ push, tag, pull, mergeGroup }: On): string[] => [
  ...(push ? [pushWords(push)] : []),
  ...(tag ? [tag.names ? `tags ${listed(tag.names)}` : "tags"] : []),
  ...(pull ? [pullWords(pull)] : []),
  ...(mergeGroup ? ["merge groups"] : []),
];

/** Whether any event of a git host builds it. */
export const wantsAny = (on: On): boolean => eventsOf(on).length > 0;

/** What builds a pipeline, as people read it: `pushes of main; tags v*`. */
export const triggerWords = (on: On): string =>
  eventsOf(on).join("; ") || "nothing: only schedules and requests build it";
