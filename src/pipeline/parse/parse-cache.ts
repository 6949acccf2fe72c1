import { artifactPathProblem } from "../../domain/artifact/chosen-paths.ts";
import type { WrittenCache } from "../fields/cache-fields.ts";
import type { TemplateParser } from "../yaml/template-parser.ts";
import type { PlanCache } from "./plan.ts";

/** What a job finds again. `parser` knows what can be named before the first step. */
export const cachesOf = (written: WrittenCache[] | undefined, parser: TemplateParser): { caches?: PlanCache[] } => {
  const { context } = parser;
  if (!written) return {};
  const seen = new Set<string>();
  const caches = written.flatMap((one): PlanCache[] => {
    const { node, name, path, files = [], key, fallback = [] } = one;
    if (!name || !path) return [];
    if (seen.has(name.text)) context.mistake(name.node, "Another cache of this job has this name");
    seen.add(name.text);
    if (!key && files.length === 0)
      context.mistake(node, "A cache needs `files` of the commit, or a `key`: without them it would never change");
    if (fallback.length > 0 && !key)
      context.mistake(node, "`fallback` has beginnings of the `key`: this cache has none");
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
