import { firstPatternProblem, type NameKind, PATTERN_LIMITS, patternProblem } from "../../domain/patterns.ts";
import { PipelineOn } from "../../protocol/pipeline.ts";
import type { On } from "./triggers.ts";

/** The conditions of an event: none for `true`, null when the event is left out. */
const conditionsOf = <Conditions extends object>(event: true | Conditions | undefined): Partial<Conditions> | null =>
  event === true ? {} : (event ?? null);

/** What `on` means. An event that is left out is not wanted. */
export const onOf = (written: PipelineOn): On => {
  const [push, tag, pull] = [conditionsOf(written.push), conditionsOf(written.tag), conditionsOf(written.pull)];
  return {
    push: push && { branches: push.branches ?? null, paths: push.paths ?? null },
    tag: tag && { names: tag.names ?? null },
    pull: pull && {
      base: pull.base ?? null,
      paths: pull.paths ?? null,
      drafts: pull.drafts ?? true,
      labels: pull.labels ?? null,
    },
    mergeGroup: written["merge-group"] === true,
  };
};

/** What a stored override means; null where it is none that can be read. */
export const readWrittenOn = (stored: unknown): On | null => {
  const { data } = PipelineOn.safeParse(stored);
  return data ? onOf(data) : null;
};

/** What is wrong with a list, and where. */
interface ListProblem {
  /** Keys and indexes, from `on` downwards. */
  path: (string | number)[];
  detail: string;
}

/** What is wrong with a list of patterns, or of other texts where `named` is null. */
export const problemsOfList = (path: string[], list: string[] | undefined, named: NameKind | null): ListProblem[] => {
  if (!list) return [];
  if (list.length === 0) return [{ path, detail: "must not be empty" }];
  const most = PATTERN_LIMITS.patterns;
  if (list.length > most) return [{ path, detail: `must have at most ${most} items` }];
  return list.flatMap((text, index) => {
    const first = named && index === 0 ? firstPatternProblem(text) : null;
    const problem = first ?? (named ? patternProblem(text, named) : labelProblem(text));
    return problem === null ? [] : [{ path: [...path, index], detail: problem }];
  });
};

const labelProblem = (label: string): string | null =>
  label === "" || label.includes("\0") ? "A label must not be empty, and must not have a NUL character" : null;

/** What is wrong with the lists of an `on` that comes without a file: the rules are those of a file. */
export const onProblems = (written: PipelineOn): ListProblem[] => {
  const [push, tag, pull] = [conditionsOf(written.push), conditionsOf(written.tag), conditionsOf(written.pull)];
  return [
    ...problemsOfList(["push", "branches"], push?.branches, "ref"),
    ...problemsOfList(["push", "paths"], push?.paths, "path"),
    ...problemsOfList(["tag", "names"], tag?.names, "ref"),
    ...problemsOfList(["pull", "base"], pull?.base, "ref"),
    ...problemsOfList(["pull", "paths"], pull?.paths, "path"),
    ...problemsOfList(["pull", "labels"], pull?.labels, null),
  ];
};
