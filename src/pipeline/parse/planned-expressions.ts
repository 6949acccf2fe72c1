import type { JobDefinition, LocatedExpression, Template, ToolsTemplate } from "./plan.ts";

const expressionsIn = (template: Template | null): LocatedExpression[] =>
  (template ?? []).filter((part) => typeof part !== "string");

/** The versions of tools that a file or job names. */
export const versionsOf = (tools: ToolsTemplate | null): Template[] =>
  typeof tools === "object" ? (tools ?? []).map(({ version }) => version) : [];

const templatesOf = ({ name, concurrency, gate, job: { requires, tools } }: JobDefinition): (Template | null)[] => [
  name,
  concurrency?.group ?? null,
  gate?.message ?? null,
  typeof requires.platform === "object" ? requires.platform : null,
  ...(requires.labels ?? []),
  ...versionsOf(tools),
];

/** The expressions of a job itself that are evaluated when the build is planned. */
export const plannedExpressions = (job: JobDefinition): LocatedExpression[] => {
  const { ios, android, web } = job.job.requires;
  const flags = [job.mayFail, ios, android, web].filter((one) => typeof one === "object" && one !== null);
  return [...templatesOf(job).flatMap(expressionsIn), ...flags];
};
