import type { GraphJob, JobGraph, Matrix } from "../../src/pipeline/graph/graph.ts";
import { conditionTexts, PLAIN_VARIABLES, saidYes } from "./conditions.ts";
import type { Random } from "./random.ts";

/** The content of a file with jobs, the same for each agent that reads it. Planning assigns the ids. */
export type Blueprint = Omit<JobGraph, "commitSha" | "hash">;

const MAX_JOBS = 8;
const ROLES = ["viewer", "member", "maintainer", "admin"] as const;

/** Creates a random file with two to ten jobs, in the order of needs or in any other. */
export const newBlueprint = (random: Random, path: string | null): Blueprint => {
  const jobs: GraphJob[] = [];
  const definitions = 2 + random.below(4);
  for (let index = 0; index < definitions && jobs.length < MAX_JOBS; index++)
    jobs.push(...newDefinition(random, `d${index}`, jobs));
  if (random.chance(0.3)) shuffle(random, jobs);
  const facts = { build: {}, repository: {}, vars: PLAIN_VARIABLES, changed: {} };
  return { path, failFast: random.chance(0.15), jobs, facts };
};

const shuffle = (random: Random, jobs: GraphJob[]): void => {
  for (let index = jobs.length - 1; index > 0; index--) {
    const other = random.below(index + 1);
    [jobs[index], jobs[other]] = [jobs[other]!, jobs[index]!];
  }
};

/** Creates one job, or each combination of its matrix. */
const newDefinition = (random: Random, definition: string, earlier: readonly GraphJob[]): GraphJob[] => {
  const combinations: (Matrix | null)[] = random.chance(0.3)
    ? ["a", "b", "c"].slice(0, 2 + random.below(2)).map((v) => ({ v }))
    : [null];
  const needs = [...new Set(earlier.map((job) => job.definition))].flatMap((name) =>
    random.chance(0.45) ? [{ definition: name, isOptional: random.chance(0.25) }] : [],
  );
  const shared = {
    definition,
    needs,
    condition: newCondition(random, combinations.length > 1, needs, earlier),
    mayFail: random.chance(0.25),
    failFast: combinations.length > 1 && random.chance(0.4),
    maxParallel: combinations.length > 1 ? random.pick([null, 1, 1, 2]) : null,
    concurrency: random.chance(0.2) ? newConcurrency(random) : null,
    gate: random.chance(0.2) ? newGate(random) : null,
    groups: [],
    requires: random.chance(0.15) ? { web: true } : random.chance(0.1) ? { labels: ["x"] } : {},
    timeoutSeconds: random.pick([20, 90, 3600, 3600]),
    ...(random.chance(0.35) && { retry: 1 + random.below(2) }),
    hasSteps: random.chance(0.88),
  };
  return combinations.map((matrix) => {
    const key = matrix ? `${definition} (${String(matrix.v)})` : definition;
    return { ...shared, id: key, key, name: key, matrix };
  });
};

const newCondition = (
  random: Random,
  hasMatrix: boolean,
  needs: GraphJob["needs"],
  earlier: readonly GraphJob[],
): string | null => {
  if (random.chance(0.5)) return null;
  const alone = needs.filter(({ definition }) => earlier.filter((job) => job.definition === definition).length === 1);
  if (alone.length > 0 && random.chance(0.4)) return saidYes(random.pick(alone).definition);
  return random.pick(conditionTexts(hasMatrix));
};

const newGate = (random: Random): GraphJob["gate"] => ({
  message: null,
  by: random.pick(ROLES),
  timeoutHours: random.pick([1, 72]),
  hostStatus: random.pick(["success", "pending"]),
});

/** Letter case does not count. The limits of a group may differ between its members. */
const newConcurrency = (random: Random): GraphJob["concurrency"] => ({
  group: random.pick(["deploy", "Deploy", "stage"]),
  limit: random.pick([1, 1, 1, 2]),
  whenBusy: random.chance(0.3) ? "cancel-running" : "wait",
});

/** Creates the graph of one reading of the file. Each reading gives its jobs new ids. */
export const graphOf = (
  blueprint: Blueprint,
  found: Pick<JobGraph, "commitSha" | "hash">,
  newId: () => string,
): JobGraph => ({
  ...blueprint,
  ...found,
  ...(blueprint.jobs.length % 3 === 0 ? { features: ["include"] } : {}),
  jobs: blueprint.jobs.map((job) => ({ ...job, id: newId() })),
});
