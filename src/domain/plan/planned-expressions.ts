import type { JobDefinition, LocatedExpression, Template } from "./plan.ts";

const expressionsIn = (template: Template | null): LocatedExpression[] =>
  (template ?? []).filter((part) => typeof part !== "string");

const templatesOf = ({ name, concurrency, gate, job: { requires } }: JobDefinition): (Template | null)[] => [
  name,
  concurrency?.group ?? null,
  gate?.message ?? null,
  typeof requires.platform === "object" ? requires.platform : null,
  ...(requires.labels ?? []),
];

/** The expressions of a job itself that are evaluated when the build is planned. */
export const plannedExpressions = (job: JobDefinition): LocatedExpression[] => {
  const { ios, android, web } = job.job.requires;
  const flags = [job.mayFail, ios, android, web].filter((one) => typeof one === "object" && one !== null);
  return [...templatesOf(job).flatMap(expressionsIn), ...flags];
};
