import { mergeRequires } from "../../domain/requires.ts";
import type { Feature } from "../../protocol/jobs.ts";
import { LIMITS, withCommas } from "../../protocol/limits.ts";
import type { Requires } from "../../protocol/pipeline.ts";
import { MIB } from "../../protocol/units.ts";
import { FILE_LIMITS } from "../fields/limits.ts";
import { LocatedMistake, type Mistake } from "../mistake.ts";
import type { JobDefinition, Plan } from "../parse/plan.ts";
import { ONLY_JOB } from "../parse/plan-contents.ts";
import type { GraphFacts, GraphJob, JobGraph } from "./graph.ts";
import { graphJob, jobKeys } from "./graph-job.ts";
import { PlanScope } from "./plan-scope.ts";
import { questionsInCondition } from "./questions.ts";

/** Sorts the definitions so that each follows everything that it needs. Otherwise keeps the order of the file. */
const inOrderOfNeeds = (jobs: readonly JobDefinition[]): JobDefinition[] => {
  const waiting = [...jobs];
  const placedKeys = new Set<string>();
  const ordered: JobDefinition[] = [];
  while (waiting.length > 0) {
    const ready = waiting.findIndex(({ needs }) => needs.every(({ job }) => placedKeys.has(job)));
    // A plan has no circle of needs, because the service would have rejected its file.
    const [next] = waiting.splice(Math.max(ready, 0), 1);
    placedKeys.add(next!.key);
    ordered.push(next!);
  }
  return ordered;
};

export interface ExpandOptions {
  facts: GraphFacts;
  /** SHA-256 of the file's text and of its included files, in hexadecimal digits. */
  hash: string;
  /** The features that an agent needs to run the jobs, beyond `jobs` itself. */
  features?: Feature[];
  /** The path of the file; null for a definition in the pipeline's record. */
  path: string | null;
  commitSha: string | null;
  /** The requirements of the pipeline and the trigger. An agent must also meet these. */
  requires: Requires;
  /** The pipeline's timeout. The smaller of the pipeline's and the job's timeout applies. */
  timeoutSeconds: number;
  newId(): string;
}

type Expansion = { graph: JobGraph; mistakes?: undefined } | { graph?: undefined; mistakes: Mistake[] };

/** Maximum bytes of a stored graph. The graph is stored beside its file's text. */
const MOST_BYTES = MIB;
const START = { line: 1, column: 1 };
const ONLY_FROM_COMMIT =
  "Only a file in the repository can use changed() before its jobs run: write it in the `if` of a step";

const jsonBytes = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).byteLength;

/** The mistakes, once for each place, because all combinations of a matrix produce the same mistakes. */
class Mistakes {
  readonly #byPlace = new Map<string, Mistake>();

  add(mistake: Mistake): void {
    const place = `${mistake.line}:${mistake.column}`;
    if (!this.#byPlace.has(place)) this.#byPlace.set(place, mistake);
  }

  get list(): Mistake[] {
    return [...this.#byPlace.values()].sort((a, b) => a.line - b.line || a.column - b.column);
  }

  get isFull(): boolean {
    return this.#byPlace.size >= FILE_LIMITS.mistakes;
  }
}

/** Creates the only job of a file of steps. */
const onlyJob = (plan: Plan, { requires, timeoutSeconds, newId }: ExpandOptions, mistakes: Mistakes): GraphJob[] => {
  const { timeoutMinutes } = plan.job;
  const merged = mergeRequires(requires, plan.job.requires);
  if (!merged)
    mistakes.add({ ...START, message: "The pipeline and the file require different platforms: no agent has both" });
  const limit = timeoutMinutes === null ? Number.POSITIVE_INFINITY : timeoutMinutes * 60;
  return [
    {
      id: newId(),
      key: ONLY_JOB,
      definition: ONLY_JOB,
      name: ONLY_JOB,
      matrix: null,
      needs: [],
      condition: null,
      mayFail: false,
      failFast: false,
      maxParallel: null,
      concurrency: null,
      gate: null,
      groups: plan.groups,
      requires: merged ?? {},
      timeoutSeconds: Math.min(timeoutSeconds, limit),
      ...(plan.retry > 0 && { retry: plan.retry }),
      hasSteps: true,
    },
  ];
};

const jobsIn = (plan: Plan, options: ExpandOptions, mistakes: Mistakes): GraphJob[] => {
  const scope = new PlanScope(options.facts);
  const jobs: GraphJob[] = [];
  let bytes = jsonBytes(options.facts);
  for (const definition of inOrderOfNeeds(plan.jobs ?? [])) {
    const { key, matrix, position } = definition;
    if (options.path === null && questionsInCondition(definition).length > 0)
      mistakes.add({ ...definition.if!.positionAt(0), message: ONLY_FROM_COMMIT });
    const keys = matrix ? jobKeys(key, matrix.axes, matrix.combinations) : [key];
    for (const [index, jobKey] of keys.entries()) {
      const one = { id: options.newId(), key: jobKey, matrix: matrix?.combinations[index] ?? null };
      try {
        const job = graphJob(definition, one, options, scope);
        bytes += jsonBytes(job);
        if (bytes > MOST_BYTES)
          throw new LocatedMistake({
            ...position,
            message: `The jobs up to here have more than ${withCommas(MOST_BYTES)} bytes`,
          });
        jobs.push(job);
      } catch (error) {
        if (!(error instanceof LocatedMistake)) throw error;
        mistakes.add(error.mistake);
        if (mistakes.isFull || scope.isSpent || bytes > MOST_BYTES) return jobs;
      }
    }
  }
  if (jobs.length > LIMITS.jobs) mistakes.add({ ...START, message: `A build has at most ${LIMITS.jobs} jobs` });
  return jobs;
};

/**
 * Creates the jobs of a build from its file. Each combination of a matrix becomes a job. A file of steps becomes one
 * job. Evaluates all expressions except conditions.
 */
export const expand = (plan: Plan, options: ExpandOptions): Expansion => {
  const mistakes = new Mistakes();
  const jobs = plan.jobs ? jobsIn(plan, options, mistakes) : onlyJob(plan, options, mistakes);
  if (mistakes.list.length > 0) return { mistakes: mistakes.list };
  const { hash, path, commitSha, facts, features = [] } = options;
  const needed = features.length > 0 ? { features } : {};
  return { graph: { hash, path, commitSha, failFast: plan.failFast, jobs, facts, ...needed } };
};
