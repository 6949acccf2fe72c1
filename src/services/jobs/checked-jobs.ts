import type * as z from "zod/mini";
import { EnvironmentTooLarge } from "../../domain/compose.ts";
import { refOf } from "../../domain/git-ref.ts";
import { mergeRequires, unmetRequirements } from "../../domain/requires.ts";
import type { GraphJob } from "../../pipeline/graph/graph.ts";
import { allowsRef } from "../../pipeline/graph/group-protection.ts";
import { collectQuestions } from "../../pipeline/graph/questions.ts";
import type { Mistake } from "../../pipeline/mistake.ts";
import { type Includes, KnownFiles, type ToInclude } from "../../pipeline/parse/included-files.ts";
import type { Plan } from "../../pipeline/parse/plan.ts";
import { planToExpand } from "../../pipeline/parse/plan-contents.ts";
import type { Agent } from "../../protocol/agent.ts";
import { byteSize, LIMITS } from "../../protocol/limits.ts";
import { type CheckedJob, type IncludedFiles, PIPELINE_DEFAULTS } from "../../protocol/pipeline.ts";
import type { Context } from "../core/context.ts";
import { type FieldError, invalidFields, Refusal } from "../core/refusal.ts";
import { type PlannedGraph, type PlanSources, type PlanText, planGraph } from "./plan-graph.ts";

type Sent = readonly { path: string; text: string }[];

/** Rejects a file that exceeds the text limit together with its includes. @throws Refusal too-large */
export const checkSize = (text: string, files: typeof IncludedFiles._zod.output = []): void => {
  const characters = files.reduce((sum, file) => sum + file.text.length, text.length);
  if (characters > LIMITS.definitionCharacters)
    throw new Refusal(
      "too-large",
      `A pipeline file and its includes may have at most ${byteSize(LIMITS.definitionCharacters)}.`,
    );
};

/** Returns the files that were sent with a pipeline file. */
export const toKnownFiles = (files: Sent, otherwise: Includes): KnownFiles =>
  new KnownFiles(new Map(files.map(({ path, text }): [string, ToInclude] => [path, { text }])), otherwise);

/** Rejects each sent file that nothing includes. @throws Refusal invalid, naming each of these files */
export const refuseUnused = (files: Sent, { used }: KnownFiles): void => {
  const paths = new Set(used.map(({ path }) => path));
  const errors = files.flatMap(({ path }, index): FieldError[] =>
    paths.has(path) ? [] : [{ pointer: `/includes/${index}/path`, detail: "is not included by the pipeline file" }],
  );
  if (errors.length > 0) throw invalidFields(errors);
};

/** Returns the JSON pointer to a mistake's file in the request. */
export const pointerTo = ({ file }: Mistake, files: Sent): string => {
  const index = files.findIndex(({ path }) => path === file);
  return index < 0 ? "/text" : `/includes/${index}/text`;
};

/** The sources for checking a file. A check for a pipeline has all of them; a check of a file alone has null. */
export type CheckSources = Omit<PlanSources, "repository" | "run" | "secretKeys"> & {
  repository: (PlanSources["repository"] & { defaultBranch: string }) | null;
};

const NO_ID = "00000000-0000-0000-0000-000000000000";
const SAMPLE_REPOSITORY = { id: NO_ID, fullName: "acme/app", cloneUrl: "", defaultBranch: "main" };

/** Returns the sources. Without them, assumes that every variable and group in the file exists. */
const orAssumed = (plan: Plan, sources: CheckSources | null): PlanSources => {
  const groups = [...new Set([...plan.groups, ...(plan.jobs ?? []).flatMap(({ groups }) => groups)])];
  return {
    repository: sources?.repository ?? SAMPLE_REPOSITORY,
    pipeline: sources?.pipeline,
    rows: sources?.rows ?? [],
    groups: sources?.groups ?? groups.map((name) => ({ id: name, name, protection: null })),
    run: sources ? {} : Object.fromEntries(collectQuestions(plan).vars.map((key) => [key, ""])),
    secretKeys: [],
  };
};

/** A file, with the files that it may include. */
type TextToCheck = Pick<PlanText, "text" | "files">;

/** Creates a sample build of the default branch, with the values that are known in advance. */
const sampleText = (text: TextToCheck, branch: string, { pipeline }: PlanSources) => ({
  ...text,
  path: pipeline?.definition != null ? null : (pipeline?.configPath ?? PIPELINE_DEFAULTS.configPath),
  build: {
    id: NO_ID,
    number: 1,
    branch,
    commit: null,
    message: null,
    trigger: "api",
    event: "api",
    ref: refOf(branch),
    tag: null,
    pull: null,
    base: null,
    schedule: null,
    trusted: true,
  },
  requires: mergeRequires(pipeline?.requires ?? {}, {}) ?? {},
  timeoutSeconds: pipeline?.timeoutSeconds ?? PIPELINE_DEFAULTS.timeoutSeconds,
  changed: {},
});

/** Counts the registered agents that may run a job. Evaluates each set of requirements only once. */
const agentCounter = (agents: Agent[]) => {
  const counts = new Map<string, number>();
  return ({ requires }: GraphJob): number => {
    const key = JSON.stringify(requires);
    const count = counts.get(key) ?? agents.filter((agent) => unmetRequirements(agent, requires).length === 0).length;
    counts.set(key, count);
    return count;
  };
};

/** Returns one hint for each of the file's jobs that no agent can run. */
const agentHints = (plan: Plan, jobs: GraphJob[], agentsFor: (job: GraphJob) => number): Mistake[] =>
  (plan.jobs ?? []).flatMap(({ key, position }) =>
    jobs.some((job) => job.definition === key && agentsFor(job) === 0)
      ? [{ ...position, message: "No registered agent meets this job's requirements: the job waits for one" }]
      : [],
  );

interface Checked {
  jobs: z.output<typeof CheckedJob>[] | null;
  mistakes: Mistake[];
  hints: Mistake[];
}

/**
 * Returns the jobs that a build of the file would have, with mistakes and hints. The jobs are null if the file has no
 * jobs.
 */
export const checkJobs = async (
  context: Context,
  plan: Plan,
  text: TextToCheck,
  sources: CheckSources | null,
): Promise<Checked> => {
  if (!planToExpand(plan)) return { jobs: null, mistakes: [], hints: [] };
  const assumed = orAssumed(plan, sources);
  const branch = sources?.repository?.defaultBranch ?? SAMPLE_REPOSITORY.defaultBranch;
  const planned = await planGraph(context, sampleText(text, branch, assumed), assumed).catch(
    (error: unknown): PlannedGraph => {
      if (error instanceof EnvironmentTooLarge) return { mistakes: [] };
      throw error;
    },
  );
  if (!planned.graph) return { jobs: null, mistakes: planned.mistakes, hints: [] };
  const { graph } = planned;
  const agentsFor = agentCounter(await (await context.pool()).listAgents());
  const jobs = graph.jobs.map((job) => {
    const { key, definition, name, matrix, needs, requires, gate, groups } = job;
    const isWithheld = (group: string) =>
      assumed.groups.some(({ name, protection }) => name === group && protection && !allowsRef(protection, branch));
    return {
      key,
      definition,
      name,
      matrix,
      requires,
      groups,
      gate: gate?.by ?? null,
      needs: needs.map((need) => need.definition),
      withheld: groups.filter(isWithheld),
      agents: agentsFor(job),
    };
  });
  return { jobs, mistakes: [], hints: agentHints(plan, graph.jobs, agentsFor) };
};
