import type { CacheFacts } from "../../domain/cache/scopes.ts";
import type { Build } from "../../protocol/build.ts";
import type { Claim } from "../../queue/commands/claim.ts";
import type { ClaimedJob, LeaseHolder, Result } from "../../queue/commands/commands.ts";
import { replacedJob } from "../../queue/commands/plan.ts";
import { toClaimedJob } from "../../queue/read/record.ts";
import { findEntry, isRemembered } from "../../queue/state/decision.ts";
import type { PoolEngine } from "./engine.ts";
import { toRefusal, unknownId } from "./job-records.ts";
import type { PoolRecords } from "./records.ts";

/** Finds the jobs that agents hold, when agents call about them. Changes nothing. */
export class HeldJobs {
  readonly #engine: PoolEngine;
  readonly #records: PoolRecords;

  constructor(engine: PoolEngine, records: PoolRecords) {
    this.#engine = engine;
    this.#records = records;
  }

  claimedJob(lease: Claim, job = this.#engine.state.jobs.get(lease.jobId)!): ClaimedJob {
    const { state, storage, orgId } = this.#engine;
    // Read the build from memory: reading the row would write the waiting claim.
    const build = state.builds.get(job.buildId)!;
    const report = storage.report(build.id);
    const planned = this.#records.jobs.findPlannedJob(job.id);
    const runValues = storage.runValues(build.id, build);
    return { ...toClaimedJob(orgId, lease, { build, job, report }, runValues), ...(planned && { job: planned }) };
  }

  /**
   * Finds the job that the agent was granted under this lease, the latest of the build. Also finds the job once the
   * lease is over. An agent can repeat a call whose answer was lost. Other code decides whether the repeated call
   * changes anything.
   */
  findClaimedJob({ jobId, fence, agentId, tokenHash }: LeaseHolder): Result<ClaimedJob & { agentId: string }> {
    const { state } = this.#engine;
    const agent = state.agents.get(agentId);
    if (agent?.tokenHash !== tokenHash) return toRefusal("unauthenticated");
    const build = state.builds.get(jobId);
    const job = findEntry(state, jobId)?.job ?? (build && replacedJob(build));
    if (!job && !isRemembered(state, jobId)) return unknownId();
    if (!job || job.fence !== fence || job.agentId !== agentId) return toRefusal("lease-lost");
    if (job.lease?.startedAt === null) return toRefusal("conflict");
    const granted = { jobId, fence, expiresAt: job.lease?.expiresAt ?? 0 };
    return { ok: true, value: { ...this.claimedJob(granted, job), agentId } };
  }

  /**
   * Finds the job like `findClaimedJob`, unless somebody is canceling it. The agent of a canceled job gets nothing
   * more, but keeps the lease. An agent that loses its lease reports no end, and the build would then be canceled only
   * when the lease expires.
   */
  findOpenClaimedJob(holder: LeaseHolder): Result<ClaimedJob & { agentId: string }> {
    const granted = this.findClaimedJob(holder);
    const isCanceling = this.#engine.state.jobs.get(holder.jobId)?.status === "canceling";
    return granted.ok && isCanceling ? toRefusal("conflict") : granted;
  }

  /** Checks that the agent holds this lease now, before the pool releases data that requires a valid lease. */
  checkHeld(holder: LeaseHolder): Result<null> {
    const granted = this.findClaimedJob(holder);
    if (!granted.ok) return granted;
    return this.#engine.state.jobs.get(holder.jobId)?.lease ? { ok: true, value: null } : toRefusal("lease-lost");
  }

  /** Returns the build of the agent's present job, as it was built. */
  heldBuild(holder: LeaseHolder): Result<Pick<Build, "id" | "repoId" | "commitSha">> {
    const lease = this.checkHeld(holder);
    if (!lease.ok) return lease;
    const { id, repoId, commitSha } = this.#records.build(this.#records.jobs.findBuildId(holder.jobId));
    return { ok: true, value: { id, repoId, commitSha } };
  }

  findCacheFacts(holder: LeaseHolder): Result<CacheFacts> {
    const lease = this.checkHeld(holder);
    if (!lease.ok) return lease;
    const {
      repoId,
      pipelineId,
      branch,
      origin,
      trust = "trusted",
    } = this.#engine.state.builds.get(this.#records.jobs.findBuildId(holder.jobId))!;
    return {
      ok: true,
      value: { repoId, pipelineId, branch, event: origin?.event ?? "api", base: origin?.pull?.base || null, trust },
    };
  }
}
