import type { BuildRecord } from "../../archive/records.ts";
import { poolName } from "../../domain/durable-objects.ts";
import { failingPart, type PartOfLog } from "../../domain/failure/error-lines.ts";
import type { Build } from "../../protocol/build.ts";
import type { Explanation } from "../../protocol/explain.ts";
import type { BuildJob } from "../../protocol/job-record.ts";
import type * as commands from "../../queue/commands/commands.ts";
import type { DeliveryRequest, DeliveryResult } from "../../queue/commands/commands.ts";
import type { DeleteRequest } from "../../queue/commands/delete.ts";
import type { LiveQuery } from "../../queue/read/live.ts";
import type { Deleted } from "../../queue/state/facts.ts";
import { VersionedObject } from "../versioned-object.ts";
import { type ArtifactsOfBuild, listArtifactPlaces, listTestPlaces, type TestsOfBuild } from "./build-jobs.ts";
import { PoolEngine } from "./engine.ts";
import { PoolRecords } from "./records.ts";
import { type DeletedArtifact, PoolRoom } from "./room.ts";

type Result<T> = commands.Result<T>;

/**
 * Calls about builds, from people and from services that act for them. The platform calls the methods of one object
 * only. The class for agents therefore extends this class, and the pool's class extends the class for agents.
 */
export abstract class BuildMethods extends VersionedObject {
  protected readonly engine: PoolEngine;
  protected readonly records: PoolRecords;
  protected readonly room: PoolRoom;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.engine = new PoolEngine(ctx, env);
    this.records = new PoolRecords(this.engine);
    this.room = new PoolRoom(this.engine);
    ctx.blockConcurrencyWhile(() => this.engine.load());
  }

  /** Creates a build, once for each idempotency key. Waits up to a second until D1's lists show it. */
  async enqueue(build: commands.NewBuild): Promise<Result<Build>> {
    this.checkOrganization(build.orgId);
    await this.engine.reconciler.comparedSoon();
    const answer = this.engine.step("enqueue", build);
    if (!answer.ok) return answer;
    await this.engine.courier.waitUntilTold("lists", answer.value.buildId);
    return this.getBuild(answer.value.buildId);
  }

  /** Accepts the result of a git host's delivery, and answers before D1's lists show it. */
  async arrive(arrival: DeliveryRequest): Promise<Result<DeliveryResult>> {
    this.checkOrganization(arrival.orgId);
    await this.engine.reconciler.comparedSoon();
    return this.engine.step("arrive", arrival);
  }

  /** Creates builds of one organization, each of them once, as `enqueue` does. D1's lists show them a moment later. */
  async enqueueAll(builds: commands.NewBuild[]): Promise<Result<{ buildId: string }>[]> {
    for (const { orgId } of builds) this.checkOrganization(orgId);
    await this.engine.reconciler.comparedSoon();
    return builds.map((build) => this.engine.step("enqueue", build));
  }

  /**
   * Returns a build. `deleted` says which parts of the build somebody deleted, even if the pool has forgotten the
   * build.
   */
  async getBuild(buildId: string): Promise<Result<Build> & { deleted?: Deleted | undefined }> {
    return this.records.findBuild(buildId);
  }

  /** Returns a build with everything that its page shows, so that the page needs one call. */
  async getRecord(buildId: string): Promise<Result<BuildRecord> & { deleted?: Deleted | undefined }> {
    return this.records.findRecord(buildId);
  }

  /** Returns the build that has this job, as `getBuild` does. `id` can also be the id of the build itself. */
  async getBuildOf(id: string): Promise<Result<Build> & { deleted?: Deleted | undefined }> {
    return this.records.findBuildWith(id);
  }

  /** Finds the part of the log that describes the failure of this build or job. */
  async failingPart(id: string): Promise<PartOfLog> {
    return failingPart(this.engine.storage.report(id).steps);
  }

  /** Returns the Markdown that a build wrote for people, while the pool knows the build. */
  async summaryOf(buildId: string): Promise<string | null> {
    return this.records.joinSummaries(buildId);
  }

  /** Deletes an ended build, or its log. Waits up to a second until no data of it is left. */
  async deleteBuild(request: DeleteRequest): Promise<Result<null>> {
    const jobs = this.records.endedJobs(request.buildId) ?? request.seen.jobs;
    const places = listArtifactPlaces(this.engine.storage, request.buildId);
    const tests = listTestPlaces(this.engine.storage, request.buildId);
    const remains = { ...(places.length > 0 && { artifacts: places }), ...(tests.length > 0 && { tests }) };
    const seen = { ...request.seen, ...(jobs && { jobs }), ...remains };
    const answer = this.engine.step("deleteBuild", { ...request, seen });
    if (answer.ok) await this.engine.courier.waitUntilTold("deletions", request.buildId);
    return answer;
  }

  /**
   * Lists active builds (queued or leased), the oldest first. With a `LiveQuery`, lists the builds that a list's page
   * requests.
   */
  async liveBuilds(query?: LiveQuery): Promise<Build[]> {
    return this.records.liveBuilds(query);
  }

  /**
   * Lists ids of active builds' logs that an agent can write to, or wrote to. Only these logs may hold sealed values.
   */
  async handedOutBuilds(): Promise<string[]> {
    return this.records.leasedBuilds();
  }

  /** Returns the values that a retry adopts from the build. */
  async inputsOf(buildId: string): Promise<Result<commands.RunValues>> {
    return this.records.runValues(buildId);
  }

  /** Returns a build's plan with the results of its ended jobs, for a retry. */
  async planOf(buildId: string): Promise<Result<commands.PlanOfBuild>> {
    return this.records.jobs.findPlan(buildId);
  }

  /** Reports whether any active build belongs to the repository or the pipeline. */
  async hasLiveBuilds(owner: { repoId?: string; pipelineId?: string }): Promise<boolean> {
    return this.records.hasLiveBuilds(owner);
  }

  async cancel(request: { buildId: string; actor: commands.Actor }): Promise<Result<Build>> {
    return this.records.toBuildAnswer(this.engine.step("cancel", request));
  }

  /** Records a person's decision whether a job may run. */
  async decideGate(request: commands.GateRequest): Promise<Result<Build>> {
    return this.records.toBuildAnswer(this.engine.step("decideGate", request));
  }

  /** Finds the active jobs among these ids, each with its build. */
  async buildsOfJobs(ids: string[]): Promise<Map<string, string>> {
    return this.records.jobs.buildIdsOfActiveJobs(ids);
  }

  /** Returns one planned job that is active or ended within 24 hours. */
  async getJob(jobId: string): Promise<Result<BuildJob>> {
    return this.records.jobs.job(jobId);
  }

  /** Explains in a sentence why each of these builds waits, by build id. */
  async whyEach(buildIds: string[]): Promise<Map<string, string>> {
    return this.records.whyEach(buildIds);
  }

  /** Explains why a build waits, with the reasons for each agent. */
  async explain(buildId: string): Promise<Result<Explanation>> {
    return this.records.explanation(buildId);
  }

  /**
   * Returns the artifacts that an active or remembered build has so far. `id` is the id of the build, or of one of its
   * jobs.
   */
  async artifactsOf(id: string): Promise<Result<{ buildId: string; artifacts: ArtifactsOfBuild }>> {
    return this.records.findArtifacts(id);
  }

  /**
   * Returns the test results that an active or remembered build has so far. `id` is the id of the build, or of one of
   * its jobs.
   */
  async testsOf(id: string): Promise<Result<{ buildId: string; tests: TestsOfBuild }>> {
    return this.records.findTests(id);
  }

  /** Removes an ended job's artifact that a person deleted. */
  async removeArtifact(request: DeletedArtifact): Promise<Result<null>> {
    return this.room.removeArtifact(request);
  }

  /** @throws if a caller sent a build or agent of another organization to this pool */
  protected checkOrganization(orgId: string): void {
    const name = this.ctx.id.name;
    if (name !== undefined && name !== poolName(orgId)) throw new Error("This is another organization's pool");
  }
}
