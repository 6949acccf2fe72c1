import type { JobGraph } from "../domain/jobs/graph.ts";
import { countsOfJobs } from "../domain/jobs/job-counts.ts";
import { needsOf } from "../domain/jobs/needs.ts";
import type { JobNode } from "../domain/jobs/node.ts";
import type { GrantedJob, PlanOfBuild, Result } from "../domain/pool/commands.ts";
import { type JobParts, toJobs, toWaitsFor } from "../domain/pool/job-records.ts";
import { testsOfJobs } from "../domain/pool/tests.ts";
import type { Build } from "../protocol/build.ts";
import type { BuildJob } from "../protocol/job-record.ts";
import { DETAILS } from "../protocol/problem.ts";
import type { PoolEngine } from "./agent-pool-engine.ts";
import { failedLineOfJobs, toWholeJob } from "./agent-pool-whole-jobs.ts";

/** What callers read of the jobs of builds of several. Changes nothing. */
export class JobRecords {
  readonly #engine: Pick<PoolEngine, "state" | "storage">;

  constructor(engine: Pick<PoolEngine, "state" | "storage">) {
    this.#engine = engine;
  }

  /** The build, or the one that this is a job of. */
  buildIdOf(id: string): string {
    const { state, storage } = this.#engine;
    return (
      state.index.buildOfJob.get(id) ?? (state.builds.has(id) ? id : (storage.jobRows.find(id)?.node.buildId ?? id))
    );
  }

  /** Those of these ids that are jobs under way, each with its build. */
  buildsOf(ids: readonly string[]): Map<string, string> {
    const { buildOfJob } = this.#engine.state.index;
    return new Map(ids.flatMap((id) => (buildOfJob.has(id) ? [[id, buildOfJob.get(id)!] as const] : [])));
  }

  /** The build with its jobs, where it has several. */
  withJobs(build: Build): Build {
    const found = this.#find(build.id);
    if (!found) return build;
    const jobs = toJobs(found.graph, found.partsOf);
    const failedLine = build.status === "failed" ? failedLineOfJobs(this.#engine.storage, jobs) : null;
    const told = { jobCounts: countsOfJobs(jobs), failedLine, tests: testsOfJobs(jobs) };
    return { ...build, jobs, waitsFor: build.finishedAt ? [] : toWaitsFor(jobs), ...told };
  }

  /** An active build as lists show it: with the gates that ask, and how many of its jobs are in which state. */
  withGates(build: Build): Build {
    if (!this.#engine.state.graphs.has(build.id)) return build;
    const { waitsFor, jobCounts } = this.withJobs(build);
    return { ...build, waitsFor, jobCounts };
  }

  /** One job whole. */
  job(jobId: string): Result<BuildJob> {
    const { storage } = this.#engine;
    const buildId = this.buildIdOf(jobId);
    const found = buildId === jobId ? undefined : this.#find(buildId);
    const job = found && toJobs(found.graph, found.partsOf).find(({ id }) => id === jobId);
    if (!job) return { ok: false, refusal: { kind: "not-found", detail: DETAILS["not-found"] } };
    return { ok: true, value: toWholeJob(storage, buildId, job, found.partsOf(jobId)) };
  }

  /** What the hand-out of this job needs; undefined for a build of one job. */
  granted(jobId: string): GrantedJob | undefined {
    const { state, storage } = this.#engine;
    const buildId = state.index.buildOfJob.get(jobId) ?? "";
    const known = state.graphs.get(buildId);
    const node = known?.nodes.get(jobId);
    if (!known || !node) return undefined;
    const { graph, nodes } = known;
    return {
      buildId,
      job: graph.jobs[node.index]!,
      attempt: (state.jobs.get(jobId)?.attempt ?? 0) + 1,
      ...{ hash: graph.hash, path: graph.path, text: storage.jobRows.plan(buildId)?.text ?? "" },
      needs: needsOf(graph, nodes, jobId, (id) => storage.outputs(id)),
      decision: node.gate?.decision ?? null,
    };
  }

  /** The plan of a build, with what its ended jobs gave. */
  planOf(buildId: string): Result<PlanOfBuild> {
    const { storage } = this.#engine;
    const found = storage.jobRows.planOf(buildId);
    return found
      ? { ok: true, value: found }
      : { ok: false, refusal: { kind: "not-found", detail: DETAILS["not-found"] } };
  }

  /** From memory while the build is active, else from what is stored. */
  #find(buildId: string): { graph: JobGraph; partsOf: (jobId: string) => JobParts } | undefined {
    const { state, storage } = this.#engine;
    const known = state.graphs.get(buildId);
    if (known) {
      const partsOf = (id: string) => ({
        ...{ node: known.nodes.get(id) as JobNode | undefined, build: state.builds.get(id), job: state.jobs.get(id) },
      });
      return { graph: known.graph, partsOf };
    }
    const plan = storage.jobRows.plan(buildId);
    if (!plan) return undefined;
    const rows = storage.jobRows.of(buildId);
    return { graph: plan.graph, partsOf: (id) => rows.get(id) ?? {} };
  }
}
