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
 * What people, and the services that act for them, call about builds. The platform calls the methods of one object: so
 * those for agents extend this class, and the pool extends them.
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

  /** Makes a build, once for each idempotency key. Waits up to a second until lists in D1 show it. */
  async enqueue(build: commands.NewBuild): Promise<Result<Build>> {
    this.checkOrganization(build.orgId);
    await this.engine.reconciler.comparedSoon();
    const answer = this.engine.step("enqueue", build);
    if (!answer.ok) return answer;
    await this.engine.courier.waitUntilTold("lists", answer.value.buildId);
    return this.getBuild(answer.value.buildId);
  }

  /** Takes what came of a delivery of a git host, and answers before lists in D1 show it. */
  async arrive(arrival: DeliveryRequest): Promise<Result<DeliveryResult>> {
    this.checkOrganization(arrival.orgId);
    await this.engine.reconciler.comparedSoon();
    return this.engine.step("arrive", arrival);
  }

  /** Makes builds of one organization, each once, as `enqueue` does. Lists in D1 show them a moment later. */
  async enqueueAll(builds: commands.NewBuild[]): Promise<Result<{ buildId: string }>[]> {
    for (const { orgId } of builds) this.checkOrganization(orgId);
    await this.engine.reconciler.comparedSoon();
    return builds.map((build) => this.engine.step("enqueue", build));
  }

  /** `deleted` is what was deleted of the build, also where the pool has forgotten the build. */
  async getBuild(buildId: string): Promise<Result<Build> & { deleted?: Deleted | undefined }> {
    return this.records.findBuild(buildId);
  }

  /** The same with all that its page shows, so that the page asks once. */
  async getRecord(buildId: string): Promise<Result<BuildRecord> & { deleted?: Deleted | undefined }> {
    return this.records.findRecord(buildId);
  }

  /** The build that has this job, as `getBuild` answers it; `id` may be that of the build too. */
  async getBuildOf(id: string): Promise<Result<Build> & { deleted?: Deleted | undefined }> {
    return this.records.findBuildWith(id);
  }

  /** Where in its log a failure of this build, or job, is told. */
  async failingPart(id: string): Promise<PartOfLog> {
    return failingPart(this.engine.storage.report(id).steps);
  }

  /** What a build wrote for people, in Markdown, while the pool knows the build. */
  async summaryOf(buildId: string): Promise<string | null> {
    return this.records.joinSummaries(buildId);
  }

  /** Deletes an ended build, or its log. Waits up to a second until nothing of it is left. */
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

  /** Active builds (queued or leased), the oldest first; or, for a page of a list, what `LiveQuery` asks for. */
  async liveBuilds(query?: LiveQuery): Promise<Build[]> {
    return this.records.liveBuilds(query);
  }

  /** Ids of the logs of active builds that an agent may write to, or wrote to: only these may hold sealed values. */
  async handedOutBuilds(): Promise<string[]> {
    return this.records.leasedBuilds();
  }

  /** What a retry takes over from the build. */
  async inputsOf(buildId: string): Promise<Result<commands.RunValues>> {
    return this.records.runValues(buildId);
  }

  /** The plan of a build, with what its ended jobs gave, for a retry. */
  async planOf(buildId: string): Promise<Result<commands.PlanOfBuild>> {
    return this.records.jobs.findPlan(buildId);
  }

  /** Whether an active build belongs to the repository, or to the pipeline. */
  async hasLiveBuilds(owner: { repoId?: string; pipelineId?: string }): Promise<boolean> {
    return this.records.hasLiveBuilds(owner);
  }

  async cancel(request: { buildId: string; actor: commands.Actor }): Promise<Result<Build>> {
    return this.records.toBuildAnswer(this.engine.step("cancel", request));
  }

  /** A person lets a job run, or not. */
  async decideGate(request: commands.GateRequest): Promise<Result<Build>> {
    return this.records.toBuildAnswer(this.engine.step("decideGate", request));
  }

  /** Those of these ids that are jobs under way, each with the build that it is of. */
  async buildsOfJobs(ids: string[]): Promise<Map<string, string>> {
    return this.records.jobs.buildIdsOfActiveJobs(ids);
  }

  /** One planned job, that is active or ended within 24 hours. */
  async getJob(jobId: string): Promise<Result<BuildJob>> {
    return this.records.jobs.job(jobId);
  }

  /** Why each of these builds waits, in a sentence, by its id. */
  async whyEach(buildIds: string[]): Promise<Map<string, string>> {
    return this.records.whyEach(buildIds);
  }

  /** Why a build waits, with the reasons for each agent. */
  async explain(buildId: string): Promise<Result<Explanation>> {
    return this.records.explanation(buildId);
  }

  /** What an active or remembered build left so far; `id` is its own, or that of one of its jobs. */
  async artifactsOf(id: string): Promise<Result<{ buildId: string; artifacts: ArtifactsOfBuild }>> {
    return this.records.findArtifacts(id);
  }

  /** What the tests of an active or remembered build said so far; `id` is its own, or that of one of its jobs. */
  async testsOf(id: string): Promise<Result<{ buildId: string; tests: TestsOfBuild }>> {
    return this.records.findTests(id);
  }

  /** A person deleted an artifact of an ended job. */
  async removeArtifact(request: DeletedArtifact): Promise<Result<null>> {
    return this.room.removeArtifact(request);
  }

  /** @throws where a build or agent of another organization was sent to this pool */
  protected checkOrganization(orgId: string): void {
    const name = this.ctx.id.name;
    if (name !== undefined && name !== poolName(orgId)) throw new Error("This is another organization's pool");
  }
}
