import type { Matrix } from "../../pipeline/graph/graph.ts";
import type { ArtifactPlace, StoredArtifact } from "../../protocol/artifact.ts";
import type { Build } from "../../protocol/build.ts";
import type { JobOfBuild } from "../../protocol/build-job.ts";
import type { BuildJob } from "../../protocol/job-record.ts";
import type { StoredTests, TestPlace } from "../../protocol/test-report.ts";
import { artifactPlaces, visibleArtifacts } from "../../queue/commands/artifacts.ts";
import { testPlaces, testsOfJobs, visibleTests } from "../../queue/commands/tests.ts";
import { countsOfJobs, failedJobs, toJobs } from "../../queue/read/job-records.ts";
import type { JobFacts } from "../../queue/state/facts.ts";
import { RULES } from "../../queue/state/rules.ts";
import type { PoolState } from "../../queue/state/state.ts";
import type { PoolStorage } from "./storage.ts";

/** Artifacts of a build's jobs, by job id. Jobs without artifacts are absent. */
export type ArtifactsOfBuild = Record<string, StoredArtifact[]>;

/** Test results of a build's jobs, by job id. Jobs without test results are absent. */
export type TestsOfBuild = Record<string, StoredTests>;

/** A job that another job needs, directly or through others, with its artifacts. */
export interface NeededArtifacts {
  jobId: string;
  key: string;
  definition: string;
  matrix: Matrix | null;
  /** The earlier build's job whose result was adopted, and whose artifacts count. */
  adopted: { buildId: string; jobId: string } | null;
  artifacts: StoredArtifact[];
}

const artifactsByJob = (jobs: JobFacts[]): ArtifactsOfBuild =>
  Object.fromEntries(
    jobs.flatMap((job) => {
      const artifacts = visibleArtifacts(job, RULES);
      return artifacts.length > 0 ? [[job.id, artifacts]] : [];
    }),
  );

export const seenArtifactsByJob = (storage: PoolStorage, buildId: string): ArtifactsOfBuild =>
  artifactsByJob(storage.findJobs(buildId));

/** Lists the places in the archive where the build may have artifacts. */
export const listArtifactPlaces = (storage: PoolStorage, buildId: string): ArtifactPlace[] =>
  storage.findJobs(buildId).flatMap(artifactPlaces);

const testsByJob = (jobs: JobFacts[]): TestsOfBuild =>
  Object.fromEntries(
    jobs.flatMap((job) => {
      const tests = visibleTests(job);
      return tests ? [[job.id, tests]] : [];
    }),
  );

/** Returns the places of the test reports that count, by job id. Jobs without test reports are absent. */
export const seenTestsByJob = (storage: PoolStorage, buildId: string): TestsOfBuild =>
  testsByJob(storage.findJobs(buildId));

/** Returns artifacts and test results of a build's jobs, under their names in records. */
export const leftByJobs = (jobs: JobFacts[]) => ({ artifacts: artifactsByJob(jobs), testReports: testsByJob(jobs) });

/** Lists the places in the archive where the build may have test reports. */
export const listTestPlaces = (storage: PoolStorage, buildId: string): TestPlace[] =>
  storage.findJobs(buildId).flatMap(testPlaces);

/** Returns everything that a job of an active build needs, and the names of the build's other jobs. */
export const neededArtifacts = (state: PoolState, jobId: string): { needed: NeededArtifacts[]; others: string[] } => {
  const graph = state.graphs.get(state.jobs.get(jobId)?.buildId ?? "");
  if (!graph) return { needed: [], others: [] };
  const definitions = new Set<string>();
  const follow = (names: string[]): void => {
    for (const name of names) {
      if (definitions.has(name)) continue;
      definitions.add(name);
      for (const job of graph.jobs) if (job.definition === name) follow(job.needs.map((need) => need.definition));
    }
  };
  follow(graph.jobs.find(({ id }) => id === jobId)?.needs.map(({ definition }) => definition) ?? []);
  const needed = graph.jobs
    .filter(({ definition }) => definitions.has(definition))
    .map(({ id, key, definition, matrix }): NeededArtifacts => {
      const job = state.jobs.get(id);
      const adopted = job?.end?.adopted;
      return {
        jobId: id,
        key,
        definition,
        matrix,
        adopted: adopted ? { buildId: adopted.buildId, jobId: adopted.jobId } : null,
        artifacts: job ? visibleArtifacts(job, RULES) : [],
      };
    });
  return { needed, others: graph.jobs.map(({ definition }) => definition).filter((name) => !definitions.has(name)) };
};

/** Returns an ended build with all facts of its planned jobs, as they are stored. */
export const withWholeJobs = (storage: PoolStorage, build: Build): Build => {
  const plan = storage.jobRows.plan(build.id);
  if (!plan) return build;
  const rows = storage.jobRows.of(build.id);
  const listed = toJobs(plan.graph, (id) => rows.get(id));
  const jobs = listed.map((job) => toWholeJob(storage, build.id, job, rows.get(job.id)));
  return { ...build, jobs, ...jobTotals(storage, build, jobs) };
};

/** Returns the totals that a build shows for its planned jobs. */
export const jobTotals = (
  storage: PoolStorage,
  { status }: Build,
  jobs: readonly JobOfBuild[],
): Pick<Build, "jobCounts" | "failedLine" | "tests"> => ({
  jobCounts: countsOfJobs(jobs),
  failedLine: status === "failed" ? failedLineOfJobs(storage, jobs) : null,
  tests: testsOfJobs(jobs),
});

export const toWholeJob = (
  storage: PoolStorage,
  buildId: string,
  job: JobOfBuild,
  facts: JobFacts | undefined,
): BuildJob => {
  const { environment, steps, summary } = storage.report(job.id);
  return {
    ...job,
    buildId,
    environment,
    steps,
    summary,
    leak: facts?.leak ?? false,
    outputs: storage.outputs(job.id),
  };
};

/** Returns the log line that says why the first failed job failed. */
const failedLineOfJobs = (storage: PoolStorage, jobs: readonly JobOfBuild[]): string | null => {
  const [failed] = failedJobs(jobs);
  return (failed && storage.report(failed.id).failedLine) ?? null;
};
