import type { GraphJob, JobGraph } from "../../../src/pipeline/graph/graph.ts";
import type { Random } from "../../simulate/random.ts";
import { saidYes, TEXTS } from "./conditions.ts";
import { graphJob, graphOf } from "./test-build.ts";

const GATE = { message: null, by: "maintainer", timeoutHours: 48, hostStatus: "success" } as const;
const GROUPS = ["deploy", "Deploy", "stage"];

const needsOf = (random: Random, before: readonly string[]): GraphJob["needs"] =>
  before.filter(() => random.chance(0.5)).map((definition) => ({ definition, isOptional: random.chance(0.25) }));

const conditionOf = (random: Random, needs: GraphJob["needs"], jobs: readonly GraphJob[]): string | null => {
  if (random.chance(0.5)) return null;
  const single = needs.filter(({ definition }) => jobs.filter((job) => job.definition === definition).length === 1);
  return single.length > 0 && random.chance(0.2) ? saidYes(random.pick(single).definition) : random.pick(TEXTS);
};

/** Returns one job as a file defines it: a single job, or a matrix's combinations. */
const definitionOf = (random: Random, definition: string, jobs: readonly GraphJob[]): GraphJob[] => {
  const needs = needsOf(random, [...new Set(jobs.map((job) => job.definition))]);
  const size = random.chance(0.3) ? 2 + random.below(2) : 1;
  const words = {
    definition,
    needs,
    condition: conditionOf(random, needs, jobs),
    mayFail: random.chance(0.2),
    failFast: size > 1 && random.chance(0.5),
    maxParallel: size > 1 && random.chance(0.5) ? 1 + random.below(2) : null,
    concurrency: random.chance(0.2)
      ? { group: random.pick(GROUPS), limit: 1 + random.below(2), whenBusy: "wait" as const }
      : null,
    gate: random.chance(0.2) ? GATE : null,
    hasSteps: random.chance(0.85),
    ...(random.chance(0.3) && { retry: 1 + random.below(2) }),
  };
  return Array.from({ length: size }, (_, at) => {
    const id = size === 1 ? definition : `${definition} (${at})`;
    return graphJob(definition, { ...words, id, key: id, matrix: size === 1 ? null : { at: String(at) } });
  });
};

const shuffled = (random: Random, jobs: GraphJob[]): GraphJob[] =>
  jobs
    .map((job) => ({ job, at: random.next() }))
    .toSorted((left, right) => left.at - right.at)
    .map(({ job }) => job);

/** Returns two to eight jobs, sorted by their needs or in random order. */
export const randomGraph = (random: Random): JobGraph => {
  let jobs: GraphJob[] = [];
  const most = 2 + random.below(7);
  for (let at = 0; jobs.length < most; at++) jobs.push(...definitionOf(random, `d${at}`, jobs));
  if (random.chance(0.5)) jobs = shuffled(random, jobs);
  const facts = {
    build: { branch: "main" },
    repository: {},
    vars: { BROKEN: "{" },
    changed: { "docs/**": false },
  };
  return graphOf(jobs, { failFast: random.chance(0.15), facts });
};
