import type { CacheFacts } from "../../domain/cache/scopes.ts";
import type { Build } from "../../protocol/build.ts";
import type { Heartbeat } from "../../protocol/jobs.ts";
import type { TestsOfJob } from "../../protocol/test-report.ts";
import type { KeepArtifact, OpenArtifact } from "../../queue/commands/artifacts.ts";
import type * as commands from "../../queue/commands/commands.ts";
import type { PlannedJobs } from "../../queue/commands/plan.ts";
import type { ArtifactFacts } from "../../queue/state/facts.ts";
import { type NeededArtifacts, neededArtifacts } from "./build-jobs.ts";
import { BuildMethods } from "./build-methods.ts";
import { HeldJobs } from "./held-jobs.ts";
import type { BegunSaving } from "./room.ts";

type Result<T> = commands.Result<T>;
/** A call that can omit the agent's id. The agent's token names the agent, which spares the caller a round trip. */
type ByToken<T extends commands.LeaseHolder> = Omit<T, "agentId"> & { agentId?: string };

/** Agents' calls about the jobs that they hold. */
export abstract class JobMethods extends BuildMethods {
  readonly #held = new HeldJobs(this.engine, this.records);

  /**
   * Leases the next job to the agent. Returns the same job again until the agent starts it. Returns null if there is no
   * job.
   */
  async claim(request: commands.ClaimRequest): Promise<Result<commands.ClaimedJob | null>> {
    if (this.engine.state.builds.size > 0) await this.engine.reconciler.comparedSoon();
    const answer = this.engine.step("claim", request);
    return answer.ok && answer.value
      ? { ok: true, value: this.#held.claimedJob(answer.value) }
      : (answer as Result<null>);
  }

  /** Makes the last check before the Worker sends secrets. @returns the build as the agent receives it */
  async deliver(delivery: commands.JobDelivery): Promise<Result<{ build: Build; leaseExpiresAt: string }>> {
    const answer = this.engine.step("deliver", delivery);
    if (!answer.ok) return answer;
    const { jobId, expiresAt } = answer.value;
    const build = this.records.buildOfJob({ ok: true, value: jobId });
    return build.ok
      ? { ok: true, value: { build: build.value, leaseExpiresAt: new Date(expiresAt).toISOString() } }
      : build;
  }

  /**
   * Returns the agent's job, for requests after the job's start. Such a request reads the job's environment, or sends
   * its plan.
   */
  async granted(holder: ByToken<commands.LeaseHolder>): Promise<Result<commands.ClaimedJob & { agentId: string }>> {
    return this.#held.findOpenClaimedJob(this.#withAgentId(holder));
  }

  async unclaim(request: commands.Unclaim): Promise<Result<null>> {
    return this.engine.step("unclaim", request);
  }

  async failClaim(request: commands.FailClaim): Promise<Result<Build>> {
    return this.records.buildOfJob(this.engine.step("failClaim", request));
  }

  async start(holder: ByToken<commands.LeaseHolder>): Promise<Result<Build>> {
    return this.records.buildOfJob(this.engine.step("start", this.#withAgentId(holder)));
  }

  async heartbeat(request: commands.HeartbeatRequest): Promise<Result<Heartbeat>> {
    return this.engine.step("heartbeat", request);
  }

  async progress(report: ByToken<commands.ProgressReport>): Promise<Result<null>> {
    return this.engine.step("progress", this.#withAgentId(report));
  }

  /**
   * Stores a report of steps whose texts the pool already has, masked.
   * @returns false if the report has another text, or if values to mask arrived later. In that case, the log masks the
   * report first.
   */
  async repeatSteps(report: ByToken<commands.ProgressReport>): Promise<Result<boolean>> {
    const request = this.#withAgentId(report);
    const masked = this.engine.storage.reports.texts(request.jobId);
    const isMasked = report.steps?.every(({ id, name }) => masked.has(name) && masked.has(id ?? name));
    if (!isMasked || report.summary !== undefined) return { ok: true, value: false };
    const answer = this.engine.step("progress", request);
    return answer.ok ? { ok: true, value: true } : answer;
  }

  async release(request: ByToken<commands.ReleaseRequest>): Promise<Result<Build>> {
    return this.records.buildOfJob(this.engine.step("release", this.#withAgentId(request)));
  }

  /** Ends a job. `tests` has the results of its tests, if the caller has to notify others. */
  async finish(report: ByToken<commands.FinishReport>): Promise<Result<Build> & { tests?: TestsOfJob }> {
    const request = this.#withAgentId(report);
    const answer = this.engine.step("finish", request);
    const tests = answer.ok ? this.records.testNews(request.jobId) : undefined;
    return { ...this.records.buildOfJob(answer), ...(tests && { tests }) };
  }

  /** Replaces a first job by the jobs in the file that its agent read in the commit, and ends the first job's lease. */
  async plan(request: ByToken<commands.PlanRequest>): Promise<Result<PlannedJobs>> {
    return this.engine.step("plan", this.#withAgentId(request));
  }

  /** Fails a build whose agent read a file with mistakes, and records the mistakes. */
  async refusePlan(request: ByToken<commands.PlanRefused>): Promise<Result<Build>> {
    return this.records.buildOfJob(this.engine.step("refusePlan", this.#withAgentId(request)));
  }

  /** Returns the build of the agent's job. */
  async heldBuild(holder: ByToken<commands.LeaseHolder>): Promise<Result<Pick<Build, "id" | "repoId" | "commitSha">>> {
    return this.#held.heldBuild(this.#withAgentId(holder));
  }

  /** Begins an artifact of the agent's job, or finds the artifact if the job began it earlier. */
  async openArtifact(request: ByToken<OpenArtifact>): Promise<Result<ArtifactFacts>> {
    await this.engine.reconciler.comparedSoon();
    return this.room.openArtifact(this.#withAgentId(request));
  }

  /** Keeps an artifact whose bytes are all in the archive, if the job ends under this lease. */
  async keepArtifact(request: ByToken<KeepArtifact>): Promise<Result<ArtifactFacts>> {
    return this.engine.step("keepArtifact", this.#withAgentId(request));
  }

  /** Discards an artifact whose bytes are of no use. @returns whether the pool does not keep the artifact */
  async discardArtifact(request: ByToken<KeepArtifact>): Promise<Result<boolean>> {
    return this.engine.step("discardArtifact", this.#withAgentId(request));
  }

  /** Returns artifacts of the jobs that the held job needs, and the names of its build's other jobs. */
  async neededArtifacts(
    holder: ByToken<commands.LeaseHolder>,
  ): Promise<Result<{ needed: NeededArtifacts[]; others: string[] }>> {
    const request = this.#withAgentId(holder);
    const answer = this.#held.checkHeld(request);
    return answer.ok ? { ok: true, value: neededArtifacts(this.engine.state, request.jobId) } : answer;
  }

  /** Returns facts about a held job's build for the scopes of the cache. Requires a valid lease. */
  async cacheFacts(holder: ByToken<commands.LeaseHolder>): Promise<Result<CacheFacts>> {
    return this.#held.findCacheFacts(this.#withAgentId(holder));
  }

  /** Counts an entry that a held job begins to save, unless the organization has no room for the entry. */
  async beginSaving({
    bytes,
    cacheId,
    parts,
    ...holder
  }: ByToken<commands.LeaseHolder> & BegunSaving): Promise<Result<null>> {
    await this.engine.reconciler.comparedSoon();
    const answer = this.#held.checkHeld(this.#withAgentId(holder));
    return answer.ok ? this.room.beginSaving({ bytes, cacheId, parts }) : answer;
  }

  /** Records that all parts of a cache entry are one object now. */
  async saved(entry: Pick<BegunSaving, "cacheId" | "bytes">): Promise<void> {
    if (!this.engine.removal.isClosed) this.engine.storage.stored.saved(entry, Date.now());
  }

  /** Records how many bytes of the organization's cache are in the archive. */
  async cacheCounted(bytes: number): Promise<void> {
    if (!this.engine.removal.isClosed) this.engine.storage.stored.counted(bytes, Date.now());
  }

  /** Notifies the job's agent that somebody began to follow its log. */
  async followed({ jobId }: { jobId: string }): Promise<void> {
    const agentId = this.engine.state.jobs.get(jobId)?.lease?.agentId;
    if (agentId) this.engine.sockets.push([{ agentId, hint: { type: "followed", buildId: jobId } }], Date.now());
  }

  /** Marks a job and its build, because the job's agent sent a secret that only the service masked. */
  async flagLeak(leak: { jobId: string; fence: number }): Promise<Result<null>> {
    return this.engine.step("flagLeak", leak);
  }

  #withAgentId<T extends { agentId?: string; tokenHash: string; jobId: string }>(call: T): T & { agentId: string } {
    const agentId = call.agentId ?? this.engine.state.index.agentByToken.get(call.tokenHash) ?? "";
    return { ...call, agentId };
  }
}
