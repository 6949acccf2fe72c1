import type { Node } from "yaml";
import { closestName } from "../../domain/closest-name.ts";
import type { JobOfFile } from "../fields/job-fields.ts";
import { noJobNamed } from "../mistake.ts";
import type { ParseContext } from "./parse-context.ts";

interface WrittenNeed {
  text: string;
  isOptional: boolean;
  node: Node;
}

/** Returns a job's needs, as written. */
export const readNeeds = (job: JobOfFile): WrittenNeed[] =>
  (job.needs ?? []).flatMap((need): WrittenNeed[] => {
    if ("text" in need) return [{ ...need, isOptional: false }];
    return need.job ? [{ ...need.job, isOptional: need.optional ?? false }] : [];
  });

type Jobs = { key: string; node: Node; value: JobOfFile }[];

/** Reports needs that do not name another job of the file, or that name a job twice. */
const checkEach = (jobs: Jobs, context: ParseContext): void => {
  const keys = jobs.map(({ key }) => key);
  const jobKeys = new Set(keys);
  for (const { key, value } of jobs) {
    const neededKeys = new Set<string>();
    for (const { text, node } of readNeeds(value)) {
      if (text === key) context.mistake(node, "A job cannot need itself");
      else if (neededKeys.has(text)) context.mistake(node, "This job is already in `needs`");
      else if (!jobKeys.has(text)) context.mistake(node, noJobNamed(text), closestName(text, keys));
      neededKeys.add(text);
    }
  }
};

/** Reports names that differ only in letter case, because people easily confuse them. */
const checkCase = (jobs: Jobs, context: ParseContext): void => {
  const keysInLowerCase = new Map<string, string>();
  for (const { key, node } of jobs) {
    const other = keysInLowerCase.get(key.toLowerCase());
    if (other !== undefined && other !== key)
      context.mistake(node, `The job \`${other}\` has the same name except for letter case`);
    keysInLowerCase.set(key.toLowerCase(), key);
  }
};

/** Reports each need that closes a circle, with the path around it. */
const checkCircles = (jobs: Jobs, context: ParseContext): void => {
  const needs = new Map(jobs.map(({ key, value }) => [key, readNeeds(value).filter(({ text }) => text !== key)]));
  const finished = new Set<string>();
  const path: string[] = [];
  const visit = (key: string): void => {
    if (finished.has(key)) return;
    path.push(key);
    for (const { text, node } of needs.get(key) ?? []) {
      const start = path.indexOf(text);
      if (start < 0) visit(text);
      else context.mistake(node, `These jobs wait for each other: ${[...path.slice(start), text].join(", ")}`);
    }
    path.pop();
    finished.add(key);
  };
  for (const key of needs.keys()) visit(key);
};

/** Reports needs that cannot be satisfied. */
export const checkNeeds = (jobs: Jobs, context: ParseContext): void => {
  checkCase(jobs, context);
  checkEach(jobs, context);
  checkCircles(jobs, context);
};
