import { isMap, isNode, isScalar, isSeq, type Node } from "yaml";
import type { ParseContext } from "./parse-context.ts";

const keysOf = (node: Node | undefined): string[] =>
  isMap(node) ? node.items.map((pair) => (isScalar(pair.key) ? String(pair.key.value) : "")) : [];

/** Whether the value of a key is a job, as at the top of GitLab files and in `workflows` of Codemagic and Bitrise. */
export const isJob = (value: Node, context: ParseContext): boolean =>
  keysOf(context.resolve(value)).some((key) => /^(?:steps|scripts?|stage|extends|commands|trigger)$/.test(key));

const valuesOf = (node: Node | undefined): Node[] => {
  if (isSeq(node)) return node.items.filter(isNode);
  return isMap(node) ? node.items.map((pair) => pair.value).filter(isNode) : [];
};

/** The jobs of a file for another CI: in `jobs`, `stages`, `workflows`, or any top-level key that is not in `known`. */
export const jobsIn = (file: Node, known: Record<string, unknown>, context: ParseContext): Node[] => {
  const found = context.resolve(file);
  if (!isMap(found)) return [];
  return found.items.flatMap(({ key, value }) => {
    const name = isScalar(key) ? String(key.value) : "";
    if (!isNode(value) || Object.hasOwn(known, name)) return [];
    if (name === "workflows") return valuesOf(context.resolve(value)).filter((job) => isJob(job, context));
    if (name !== "jobs" && name !== "stages") return isJob(value, context) ? [value] : [];
    const jobs = valuesOf(context.resolve(value)).filter((job) => isMap(context.resolve(job)));
    return jobs.flatMap((job) => {
      const inner = jobsIn(job, known, context);
      return inner.length > 0 ? inner : [job];
    });
  });
};
