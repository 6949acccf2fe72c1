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

/** The definitions so that each stands behind all that it needs, else in the order of the file. */
const inOrderOfNeeds = (jobs: readonly JobDefinition[]): JobDefinition[] => {
  const waiting = [...jobs];
  const placedKeys = new Set<string>();
  const ordered: JobDefinition[] = [];
  while (waiting.length > 0) {
    const ready = waiting.findIndex(({ needs }) => needs.every(({ job }) => placedKeys.has(job)));
    // A plan has no circle of needs: its file would have been refused.
    const [next] = waiting.splice(Math.max(ready, 0), 1);
    placedKeys.add(next!.key);
    ordered.push(next!);
  }
  return ordered;
};

export interface ExpandOptions {
  facts: GraphFacts;
  /** SHA-256 of the file's text, and of what it includes, in hexadecimal digits. */
  hash: string;
  /** What an agent's program must be able to do to run the jobs, beyond running jobs. */
  features?: Feature[];
  /** Null for a definition of the pipeline's record. */
  path: string | null;
  commitSha: string | null;
  /** Of the pipeline and the trigger: an agent has to meet these too. */
  requires: Requires;
  /** The pipeline's: the smaller of it and the job's counts. */
  timeoutSeconds: number;
  newId(): string;
}

type Expansion = { graph: JobGraph; mistakes?: undefined } | { graph?: undefined; mistakes: Mistake[] };

/** Bytes of a graph as it is stored beside its file's text. */
const MOST_BYTES = MIB;
const START = { line: 1, column: 1 };
const ONLY_FROM_COMMIT =
  "Only a file in the repository can ask what changed before its jobs run: write it in `if` of a step";

const jsonBytes = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).byteLength;

/** Mistakes, each place once: all combinations of a matrix make the same. */
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

/** The only job of a file of steps. */
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
 * Makes the jobs of a build from its file: combinations of matrices are jobs of their own, and all expressions but
 * conditions are evaluated. A file of steps is one job.
 */
export const expand = (plan: Plan, options: ExpandOptions): Expansion => {
  const mistakes = new Mistakes();
  const jobs = plan.jobs ? jobsIn(plan, options, mistakes) : onlyJob(plan, options, mistakes);
  if (mistakes.list.length > 0) return { mistakes: mistakes.list };
  const { hash, path, commitSha, facts, features = [] } = options;
  const needed = features.length > 0 ? { features } : {};
  return { graph: { hash, path, commitSha, failFast: plan.failFast, jobs, facts, ...needed } };
};
