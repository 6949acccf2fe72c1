import { firstPatternProblem, type NameKind, PATTERN_LIMITS, patternProblem } from "../../domain/patterns.ts";
import { PipelineOn } from "../../protocol/pipeline.ts";

/**
 * The pushes, tags and pull requests that trigger a pipeline. An event of null triggers nothing. A list of null accepts
 * everything.
 */
export interface On {
  push: { branches: string[] | "default" | null; paths: string[] | null } | null;
  tag: { names: string[] | null } | null;
  pull: { base: string[] | null; paths: string[] | null; drafts: boolean; labels: string[] | null } | null;
  mergeGroup: boolean;
}

export const SUPERSEDE = ["refs", "all", "none"] as const;
/**
 * The refs on which a newer head ends older builds. These are all refs except the default branch, tags and merge
 * groups; or all refs; or no refs.
 */
export type Supersede = (typeof SUPERSEDE)[number];

/** A line of a file's `schedule`. `env` contains variables for its runs. */
export interface NamedSchedule {
  name: string;
  cron: string;
  timeZone: string;
  env: Record<string, string>;
}

/** The rules of a pipeline's file for the start and end of its builds. */
export interface Triggers {
  on: On;
  supersede: Supersede;
  schedule: NamedSchedule[];
}

/** The default triggers. A file may override them. */
export const DEFAULT_TRIGGERS: Triggers = {
  on: {
    push: { branches: "default", paths: null },
    tag: null,
    pull: { base: null, paths: null, drafts: true, labels: null },
    mergeGroup: false,
  },
  supersede: "refs",
  schedule: [],
};

/** Formats patterns for people. Shows only the first three of a long list. */
const listPatterns = (patterns: string[]): string => {
  const firstPatterns = patterns.slice(0, 3).join(", ");
  return patterns.length > 3 ? `${firstPatterns} and ${patterns.length - 3} more` : firstPatterns;
};

const touching = (paths: string[] | null): string => (paths ? ` that change ${listPatterns(paths)}` : "");

const pushWords = ({ branches, paths }: NonNullable<On["push"]>): string => {
  if (branches === "default") return `pushes to the default branch${touching(paths)}`;
  return `pushes to ${branches ? listPatterns(branches) : "any branch"}${touching(paths)}`;
};

const pullWords = ({ base, paths, drafts, labels }: NonNullable<On["pull"]>): string =>
  [
    "pull requests",
    base && ` into ${listPatterns(base)}`,
    labels && ` with the label ${labels.slice(0, 3).join(" or ")}${labels.length > 3 ? " or others" : ""}`,
    touching(paths),
    !drafts && ", but no drafts",
  ]
    .filter(Boolean)
    .join("");

const eventWords = ({ push, tag, pull, mergeGroup }: On): string[] => [
  ...(push ? [pushWords(push)] : []),
  ...(tag ? [tag.names ? `tags ${listPatterns(tag.names)}` : "tags"] : []),
  ...(pull ? [pullWords(pull)] : []),
  ...(mergeGroup ? ["merge groups"] : []),
];

/** Reports whether any event of a git host triggers the pipeline. */
export const wantsAny = (on: On): boolean => eventWords(on).length > 0;

/** Describes a pipeline's triggers for people: `pushes to main; tags v*`. */
export const triggerWords = (on: On): string =>
  eventWords(on).join("; ") || "nothing: only schedules and requests build it";

/** Reads the conditions of an event. They are empty for `true`, and null if the event is omitted. */
const readConditions = <Conditions extends object>(event: true | Conditions | undefined): Partial<Conditions> | null =>
  event === true ? {} : (event ?? null);

/** Reads `on` of a file or request. An event that `on` omits triggers nothing. */
export const readOn = (on: PipelineOn): On => {
  const [push, tag, pull] = [readConditions(on.push), readConditions(on.tag), readConditions(on.pull)];
  return {
    push: push && { branches: push.branches ?? null, paths: push.paths ?? null },
    tag: tag && { names: tag.names ?? null },
    pull: pull && {
      base: pull.base ?? null,
      paths: pull.paths ?? null,
      drafts: pull.drafts ?? true,
      labels: pull.labels ?? null,
    },
    mergeGroup: on["merge-group"] === true,
  };
};

/** Reads a stored override; null if the override is not a valid `on`. */
export const readWrittenOn = (override: unknown): On | null => {
  const { data } = PipelineOn.safeParse(override);
  return data ? readOn(data) : null;
};

/** A problem with a list, and the place of the list. */
interface ListProblem {
  /** Keys and indexes, from `on` downwards. */
  path: (string | number)[];
  detail: string;
}

/** Finds the problems with a list of patterns. If `kind` is null, the list has other texts. */
export const problemsOfList = (path: string[], list: string[] | undefined, kind: NameKind | null): ListProblem[] => {
  if (!list) return [];
  if (list.length === 0) return [{ path, detail: "must not be empty" }];
  const most = PATTERN_LIMITS.patterns;
  if (list.length > most) return [{ path, detail: `must have at most ${most} items` }];
  return list.flatMap((text, index) => {
    const first = kind && index === 0 ? firstPatternProblem(text) : null;
    const problem = first ?? (kind ? patternProblem(text, kind) : labelProblem(text));
    return problem === null ? [] : [{ path: [...path, index], detail: problem }];
  });
};

const labelProblem = (label: string): string | null =>
  label === "" || label.includes("\0") ? "A label must not be empty, and must not have a NUL character" : null;

/** Finds the problems with the lists of an `on` that is not in a file. The rules are those for a file. */
export const onProblems = (on: PipelineOn): ListProblem[] => {
  const [push, tag, pull] = [readConditions(on.push), readConditions(on.tag), readConditions(on.pull)];
  return [
    ...problemsOfList(["push", "branches"], push?.branches, "ref"),
    ...problemsOfList(["push", "paths"], push?.paths, "path"),
    ...problemsOfList(["tag", "names"], tag?.names, "ref"),
    ...problemsOfList(["pull", "base"], pull?.base, "ref"),
    ...problemsOfList(["pull", "paths"], pull?.paths, "path"),
    ...problemsOfList(["pull", "labels"], pull?.labels, null),
  ];
};
