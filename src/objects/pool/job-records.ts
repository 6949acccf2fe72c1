import type { JobGraph } from "../../pipeline/graph/graph.ts";
import type { Build } from "../../protocol/build.ts";
import type { BuildJob } from "../../protocol/job-record.ts";
import { DETAILS } from "../../protocol/problem.ts";
import type { PlannedJob, PlanOfBuild, Result } from "../../queue/commands/commands.ts";
import { readNeeds } from "../../queue/jobs/needs.ts";
import { failedJobs, toJobs, toWaitsFor } from "../../queue/read/job-records.ts";
import type { JobFacts } from "../../queue/state/facts.ts";
import { jobTotals, toWholeJob } from "./build-jobs.ts";
import type { PoolEngine } from "./engine.ts";

/** Reads jobs for callers. Changes nothing. */
export class JobRecords {
  readonly #engine: Pick<PoolEngine, "state" | "storage">;

  constructor(engine: Pick<PoolEngine, "state" | "storage">) {
    this.#engine = engine;
  }

  /** Finds the build with this id, or the build that has this job. */
  findBuildId(id: string): string {
    const { state, storage } = this.#engine;
    if (state.builds.has(id)) return id;
    return state.jobs.get(id)?.buildId ?? storage.jobRows.find(id)?.buildId ?? this.#plannedIn(id) ?? id;
  }

  /** Finds the active build of a job whose row is damaged. */
  #plannedIn(jobId: string): string | undefined {
    const { graphs } = this.#engine.state;
    return graphs.keys().find((buildId) => graphs.get(buildId)!.jobs.some(({ id }) => id === jobId));
  }

  /** Finds the active planned jobs among these ids, each with its build. */
  buildIdsOfActiveJobs(ids: readonly string[]): Map<string, string> {
    const { jobs } = this.#engine.state;
    const activeJobs = ids.flatMap((id) => jobs.get(id) ?? []);
    return new Map(activeJobs.flatMap(({ id, buildId }) => (id === buildId ? [] : [[id, buildId] as const])));
  }

  /**
   * Returns the build with its planned jobs.
   * @param hasFailedSteps whether the job whose failure counts has its steps
   */
  withJobs(build: Build, hasFailedSteps = false): Build {
    const plan = this.#find(build.id);
    if (!plan) return build;
    const { storage } = this.#engine;
    const listed = toJobs(plan.graph, plan.findFacts);
    const totals = jobTotals(storage, build, listed);
    const [failed] = hasFailedSteps ? failedJobs(listed) : [];
    const jobs = listed.map((job) => (job === failed ? { ...job, steps: storage.report(job.id).steps } : job));
    return { ...build, jobs, waitsFor: build.finishedAt ? [] : toWaitsFor(jobs), ...totals };
  }

  /** Returns an active build as lists show it, with its open gates and with counts of its jobs by state. */
  withGates(build: Build): Build {
    if (!this.#engine.state.graphs.has(build.id)) return build;
    const { waitsFor, jobCounts } = this.withJobs(build);
    return { ...build, waitsFor, jobCounts };
  }

  /** Returns one job with all its facts. */
  job(jobId: string): Result<BuildJob> {
    const { storage } = this.#engine;
    const buildId = this.findBuildId(jobId);
    const plan = buildId === jobId ? undefined : this.#find(buildId);
    const job = plan && toJobs(plan.graph, plan.findFacts).find(({ id }) => id === jobId);
    if (!job) return unknownId();
    return { ok: true, value: toWholeJob(storage, buildId, job, plan.findFacts(jobId)) };
  }

  /** Returns the facts that the pool needs to hand out a planned job; undefined for a first job. */
  findPlannedJob(jobId: string): PlannedJob | undefined {
    const { state, storage } = this.#engine;
    const facts = state.jobs.get(jobId);
    const graph = facts && state.graphs.get(facts.buildId);
    if (!facts || !graph) return undefined;
    return {
      job: graph.jobs[facts.index]!,
      attempt: facts.attempt + 1,
      hash: graph.hash,
      path: graph.path,
      text: storage.jobRows.plan(facts.buildId)?.text ?? "",
      needs: readNeeds(graph, state.jobs, jobId, (id) => storage.outputs(id)),
      decision: facts.gate?.decision ?? null,
    };
  }

  /** Returns a build's plan, with the results of its ended jobs. */
  findPlan(buildId: string): Result<PlanOfBuild> {
    const { storage } = this.#engine;
    const plan = storage.jobRows.findPlan(buildId);
    return plan ? { ok: true, value: plan } : unknownId();
  }

  /** Reads from memory while the build is active, and from disk otherwise. */
  #find(buildId: string): { graph: JobGraph; findFacts: (jobId: string) => JobFacts | undefined } | undefined {
    const { state, storage } = this.#engine;
    const graph = state.graphs.get(buildId);
    if (graph) return { graph: graph, findFacts: (id) => state.jobs.get(id) };
    const plan = storage.jobRows.plan(buildId);
    if (!plan) return undefined;
    const rows = storage.jobRows.of(buildId);
    return { graph: plan.graph, findFacts: (id) => rows.get(id) };
  }
}

export const toRefusal = (kind: keyof typeof REFUSALS): Result<never> => ({
  ok: false,
  refusal: { kind, detail: REFUSALS[kind] },
});

const REFUSALS = {
  unauthenticated: DETAILS.unauthenticated,
  "not-found": DETAILS["not-found"],
  "lease-lost": DETAILS["lease-lost"],
  conflict: "The build was not started.",
} as const;

export const unknownId = (): Result<never> => toRefusal("not-found");
