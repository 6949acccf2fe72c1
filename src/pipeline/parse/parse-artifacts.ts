import { artifactPathProblem } from "../../domain/artifact/chosen-paths.ts";
import { closestName } from "../../domain/closest-name.ts";
import type { WrittenArtifact, WrittenDownload } from "../fields/artifact-fields.ts";
import type { WrittenCache } from "../fields/cache-fields.ts";
import type { JobOfFile } from "../fields/job-fields.ts";
import { noJobNamed } from "../mistake.ts";
import type { TemplateParser } from "../yaml/template-parser.ts";
import { readNeeds } from "./check-needs.ts";
import type { ParseContext } from "./parse-context.ts";
import type { PlanArtifact, PlanCache, PlanDownload } from "./plan.ts";

export const parseArtifacts = (artifacts: WrittenArtifact[] | undefined, context: ParseContext): PlanArtifact[] => {
  const foldedNames = new Set<string>();
  return (artifacts ?? []).flatMap((one): PlanArtifact[] => {
    const { name, path } = one;
    if (!name || !path) return [];
    const folded = name.text.normalize("NFC").toLowerCase();
    if (foldedNames.has(folded)) context.mistake(name.node, "Another artifact of this job has this name");
    foldedNames.add(folded);
    return [
      {
        name: name.text,
        paths: path.map(({ text }) => text),
        as: one.as ?? "files",
        keepDays: one["keep-days"] ?? null,
        ifNone: one["if-none"] ?? "fail",
        when: one.when ?? "success",
      },
    ];
  });
};

/** Returns a job's needs, direct and indirect. */
const allNeeds = (job: JobOfFile, all: Map<string, JobOfFile>): Set<string> => {
  const neededJobs = new Set<string>();
  const queue = [job];
  for (const one of queue)
    for (const { text } of readNeeds(one)) {
      const needed = all.get(text);
      if (!needed || neededJobs.has(text)) continue;
      neededJobs.add(text);
      queue.push(needed);
    }
  return neededJobs;
};

const folderParts = (folder: string): string[] => folder.split("/").filter((part) => part !== "" && part !== ".");

/** Parses the downloads from jobs that a job needs, directly or indirectly. */
export const parseDownloads = (
  downloads: WrittenDownload[] | undefined,
  job: JobOfFile,
  all: Map<string, JobOfFile>,
  context: ParseContext,
): PlanDownload[] => {
  const needed = allNeeds(job, all);
  return (downloads ?? []).flatMap(({ from, artifact, to }): PlanDownload[] => {
    if (!from || !to) return [];
    if (!all.has(from.text)) context.mistake(from.node, noJobNamed(from.text), closestName(from.text, [...all.keys()]));
    else if (!needed.has(from.text))
      context.mistake(
        from.node,
        "Only jobs that this one `needs`, directly or indirectly, have ended before it begins",
      );
    return [{ from: from.text, artifact: artifact?.text ?? null, to: folderParts(to.text) }];
  });
};

/** Parses a job's caches. `parser` knows the names that exist before the first step. */
export const parseCaches = (entries: WrittenCache[] | undefined, parser: TemplateParser): { caches?: PlanCache[] } => {
  const { context } = parser;
  if (!entries) return {};
  const names = new Set<string>();
  const caches = entries.flatMap((one): PlanCache[] => {
    const { node, name, path, files = [], key, fallback = [] } = one;
    if (!name || !path) return [];
    if (names.has(name.text)) context.mistake(name.node, "Another cache of this job has this name");
    names.add(name.text);
    if (!key && files.length === 0)
      context.mistake(node, "A cache needs `files` of the commit, or a `key`: without them it would never change");
    if (fallback.length > 0 && !key)
      context.mistake(node, "`fallback` lists prefixes of the `key`: this cache has no `key`");
    return [
      {
        name: name.text,
        paths: path.map(({ text }) => text),
        files: files.map(({ text }) => text).filter((text) => artifactPathProblem(text) === null),
        key: key ? parser.template(key) : null,
        fallback: fallback.map((text) => parser.template(text)),
        isShared: one.shared ?? false,
        save: one.save ?? "success",
        isRemote: one.remote ?? false,
      },
    ];
  });
  return { caches };
};
