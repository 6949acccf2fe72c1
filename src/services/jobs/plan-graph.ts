import { sha256Hex } from "../../crypto/encoding.ts";
import type { pipeline, repository } from "../../db/schema.ts";
import { compose } from "../../domain/compose.ts";
import { expand } from "../../pipeline/graph/expand.ts";
import type { GraphFacts, JobGraph } from "../../pipeline/graph/graph.ts";
import { type AttachedGroup, openGroups, unknownGroups, withGate } from "../../pipeline/graph/group-protection.ts";
import { collectQuestions } from "../../pipeline/graph/questions.ts";
import type { Mistake } from "../../pipeline/mistake.ts";
import { hashedText, type KnownFiles } from "../../pipeline/parse/included-files.ts";
import { unknownBeforeJobs } from "../../pipeline/parse/known-variables.ts";
import { parsePlan } from "../../pipeline/parse/parse.ts";
import type { Plan } from "../../pipeline/parse/plan.ts";
import { neededFeatures } from "../../pipeline/parse/plan-contents.ts";
import type { JobContext } from "../../pipeline/prepare/job-context.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Requires } from "../../protocol/pipeline.ts";
import type { Context } from "../core/context.ts";
import { scoped } from "../variables/environment-preview.ts";
import type { VariableRow } from "../variables/variables.ts";

/** The sources for planning jobs, in addition to the text. */
export interface PlanSources {
  repository: Pick<typeof repository.$inferSelect, "id" | "fullName" | "cloneUrl">;
  /** The build's pipeline; undefined for a build without a pipeline. */
  pipeline: typeof pipeline.$inferSelect | undefined;
  rows: VariableRow[];
  groups: AttachedGroup[];
  /** The run's own values, and the keys of the secret values. */
  run: Record<string, string>;
  secretKeys: string[];
}

/** A build's file, with the build that gets the planned jobs. */
export interface PlanText {
  text: string;
  /** The file's path; null for a definition in the pipeline's record. */
  path: string | null;
  build: Omit<JobContext["build"], "attempt">;
  requires: Requires;
  timeoutSeconds: number;
  /** For each condition on changed files, whether a changed file matches it. */
  changed: Record<string, boolean>;
  /** The files that the text may include; absent for a definition in the pipeline's record. */
  files?: KnownFiles;
}

export type PlannedGraph = { graph: JobGraph; mistakes?: undefined } | { graph?: undefined; mistakes: Mistake[] };

/**
 * Returns the plain variables that every job has, and the names of its secrets. Does not read a protected group's
 * values. A file variable has no path before its job runs.
 */
const splitVariables = ({ rows, groups, run, secretKeys }: PlanSources, { branch, trusted }: PlanText["build"]) => {
  const trust = trusted ? "trusted" : "untrusted";
  const { groupIds } = openGroups(groups, { groups: [], branch, decision: null, trust });
  const variables = rows.map((row) => scoped(row, row.isSecret ? null : row.value));
  const entries = compose({ variables, groupIds, run, secretKeys }, "trusted").filter(({ file }) => !file);
  const secrets = entries.filter((entry) => entry.isSecret).map(({ key }) => key);
  const plain = entries.filter((entry) => !entry.isSecret).map(({ key, value }) => [key, value ?? ""] as const);
  return { secrets, plain: new Map(plain) };
};

const toFacts = (plan: Plan, text: PlanText, sources: PlanSources, plain: Map<string, string>): GraphFacts => {
  const { changed, vars } = collectQuestions(plan);
  const { id, fullName, cloneUrl } = sources.repository;
  return {
    build: { ...text.build, attempt: 1 },
    repository: { id, fullName, cloneUrl },
    vars: Object.fromEntries(vars.flatMap((key) => (plain.has(key) ? [[key, plain.get(key) ?? ""]] : []))),
    changed: Object.fromEntries(
      changed.filter((path) => Object.hasOwn(text.changed, path)).map((path) => [path, text.changed[path] === true]),
    ),
  };
};

/**
 * The maximum size of a text as JSON. Text and graph share one row in the pool, and the platform limits a row to 2 MB.
 */
const MOST_STORED_BYTES = 3 * LIMITS.definitionCharacters;

const isTooLarge = (text: string): boolean =>
  new TextEncoder().encode(JSON.stringify(text)).byteLength > MOST_STORED_BYTES;

/** Creates a file's jobs, or finds all its mistakes. @throws EnvironmentTooLarge */
export const planGraph = async (context: Context, planText: PlanText, sources: PlanSources): Promise<PlannedGraph> => {
  const { plan, mistakes } = parsePlan(planText.text, planText.files?.find);
  const includes = planText.files?.used ?? [];
  if (mistakes) return { mistakes };
  if (isTooLarge(planText.text))
    return { mistakes: [{ line: 1, column: 1, message: "The file has too many unprintable characters" }] };
  const { plain, secrets } = splitVariables(sources, planText.build);
  const unknown = [
    ...unknownGroups(plan, sources.groups),
    ...unknownBeforeJobs(plan, { vars: [...plain.keys()], secrets }),
  ];
  if (unknown.length > 0) return { mistakes: unknown };
  const expanded = expand(plan, {
    facts: toFacts(plan, planText, sources, plain),
    hash: await sha256Hex(hashedText(planText.text, includes)),
    features: neededFeatures(plan, { includesFiles: includes.length > 0 }),
    path: planText.path,
    commitSha: planText.build.commit,
    requires: planText.requires,
    timeoutSeconds: planText.timeoutSeconds,
    newId: () => context.newId(),
  });
  if (!expanded.graph) return expanded;
  const { graph } = expanded;
  const asking = { branch: planText.build.branch, trust: planText.build.trusted ? "trusted" : "untrusted" } as const;
  return { graph: { ...graph, jobs: graph.jobs.map((job) => withGate(job, sources.groups, asking)) } };
};
