import { loadKeyring } from "../../crypto/keyring.ts";
import type { CacheFacts } from "../../domain/cache/scopes.ts";
import { poolName } from "../../domain/durable-objects.ts";
import { failingPart, type PartOfLog } from "../../domain/failure/error-lines.ts";
import type { Agent, AgentChange, AgentRun } from "../../protocol/agent.ts";
import type { Build } from "../../protocol/build.ts";
import type { Explanation } from "../../protocol/explain.ts";
import type { BuildJob } from "../../protocol/job-record.ts";
import type { Heartbeat } from "../../protocol/jobs.ts";
import type { Metrics, PoolNow } from "../../protocol/metrics.ts";
import { limitsOf, type OwnLimits } from "../../protocol/organization.ts";
import type { TestsOfJob } from "../../protocol/test-report.ts";
import type { Role } from "../../protocol/token.ts";
import type { KeepArtifact, OpenArtifact } from "../../queue/commands/artifacts.ts";
import type * as commands from "../../queue/commands/commands.ts";
import type { DeliveryRequest, DeliveryResult } from "../../queue/commands/commands.ts";
import type { DeleteRequest } from "../../queue/commands/delete.ts";
import type { PlannedJobs } from "../../queue/commands/plan.ts";
import type { Reconciled } from "../../queue/commands/reconcile.ts";
import type { LiveQuery } from "../../queue/read/live.ts";
import type { ArtifactFacts, Deleted } from "../../queue/state/facts.ts";
import type { PoolNumbers } from "../../queue/state/numbers.ts";
import { VersionedObject } from "../versioned-object.ts";
import {
  type ArtifactsOfBuild,
  listArtifactPlaces,
  listTestPlaces,
  type NeededArtifacts,
  neededArtifacts,
  type TestsOfBuild,
} from "./build-jobs.ts";
import type { ListedDeadLetter } from "./dead-letters.ts";
import { PoolEngine } from "./engine.ts";
import { PoolRecords } from "./records.ts";
import { type BegunSaving, type DeletedArtifact, PoolRoom } from "./room.ts";
import { countRunValues, rewrapRunValues } from "./run-values.ts";
import { Waiting } from "./waiting.ts";

type Result<T> = commands.Result<T>;
/** A call that may leave out the agent's id: its token names the agent, which spares the caller a round trip. */
type ByToken<T extends commands.LeaseHolder> = Omit<T, "agentId"> & { agentId?: string };

/** The agents and active builds of one organization. */
export class AgentPool extends VersionedObject {
  readonly #engine: PoolEngine;
  readonly #records: PoolRecords;
  readonly #room: PoolRoom;
  readonly #waiting: Waiting;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#engine = new PoolEngine(ctx, env);
    this.#records = new PoolRecords(this.#engine);
    this.#room = new PoolRoom(this.#engine);
    this.#waiting = new Waiting(this.#engine);
    ctx.blockConcurrencyWhile(() => this.#engine.load());
  }

  /** Makes a build, once for each idempotency key. Waits up to a second until lists in D1 show it. */
  async enqueue(build: commands.NewBuild): Promise<Result<Build>> {
    this.#checkOrg(build.orgId);
    await this.#engine.reconciler.comparedSoon();
    const answer = this.#engine.step("enqueue", build);
    if (!answer.ok) return answer;
    await this.#engine.courier.waitUntilTold("lists", answer.value.buildId);
    return this.getBuild(answer.value.buildId);
  }

  /** Takes what came of a delivery of a git host, and answers before lists in D1 show it. */
  async arrive(arrival: DeliveryRequest): Promise<Result<DeliveryResult>> {
    this.#checkOrg(arrival.orgId);
    await this.#engine.reconciler.comparedSoon();
    return this.#engine.step("arrive", arrival);
  }

  /** Makes builds of one organization, each once, as `enqueue` does. Lists in D1 show them a moment later. */
  async enqueueAll(builds: commands.NewBuild[]): Promise<Result<{ buildId: string }>[]> {
    for (const { orgId } of builds) this.#checkOrg(orgId);
    await this.#engine.reconciler.comparedSoon();
    return builds.map((build) => this.#engine.step("enqueue", build));
  }

  /** `deleted` is what was deleted of the build, also where the pool has forgotten the build. */
  async getBuild(buildId: string): Promise<Result<Build> & { deleted?: Deleted | undefined }> {
    return this.#records.findBuild(buildId);
  }

  /** The same of the build that has this job; `id` may be that of the build too. */
  async getBuildOf(id: string): Promise<Result<Build> & { deleted?: Deleted | undefined }> {
    return this.#records.findBuildWith(id);
  }

  /** Where in its log a failure of this build, or job, is told. */
  async failingPart(id: string): Promise<PartOfLog> {
    return failingPart(this.#engine.storage.report(id).steps);
  }

  /** What a build wrote for people, in Markdown, while the pool knows the build. */
  async summaryOf(buildId: string): Promise<string | null> {
    return this.#records.joinSummaries(buildId);
  }

  /** Deletes an ended build, or its log. Waits up to a second until nothing of it is left. */
  async deleteBuild(request: DeleteRequest): Promise<Result<null>> {
    const jobs = this.#records.endedJobs(request.buildId) ?? request.seen.jobs;
    const places = listArtifactPlaces(this.#engine.storage, request.buildId);
    const tests = listTestPlaces(this.#engine.storage, request.buildId);
    const left = { ...(places.length > 0 && { artifacts: places }), ...(tests.length > 0 && { tests }) };
    const seen = { ...request.seen, ...(jobs && { jobs }), ...left };
    const answer = this.#engine.step("deleteBuild", { ...request, seen });
    if (answer.ok) await this.#engine.courier.waitUntilTold("deletions", request.buildId);
    return answer;
  }

  /** Active builds (queued or leased), the oldest first; or, for a page of a list, what `LiveQuery` asks for. */
  async liveBuilds(query?: LiveQuery): Promise<Build[]> {
    return this.#records.liveBuilds(query);
  }

  /** Ids of the logs of active builds that an agent may write to, or wrote to: only these may hold sealed values. */
  async handedOutBuilds(): Promise<string[]> {
    return this.#records.leasedBuilds();
  }

  /** What a retry takes over from the build. */
  async inputsOf(buildId: string): Promise<Result<commands.RunValues>> {
    return this.#records.runValues(buildId);
  }

  /** Counts the stored run values by the id of the key that sealed them. */
  async sealedInputs(): Promise<Record<string, number>> {
    return countRunValues(this.ctx.storage.sql);
  }

  async rewrapInputs(orgId: string, limit: number): Promise<{ rewrapped: number; unopenable: string[] }> {
    return rewrapRunValues(this.ctx.storage.sql, loadKeyring(this.env.SECRETS_KEYS), orgId, limit);
  }

  /** Whether an active build belongs to the repository, or to the pipeline. */
  async hasLiveBuilds(owner: { repoId?: string; pipelineId?: string }): Promise<boolean> {
    return this.#records.hasLiveBuilds(owner);
  }

  async cancel(request: { buildId: string; actor: commands.Actor }): Promise<Result<Build>> {
    return this.#records.toBuildAnswer(this.#engine.step("cancel", request));
  }

  /** Those of these ids that are jobs under way, each with the build that it is of. */
  async buildsOfJobs(ids: string[]): Promise<Map<string, string>> {
    return this.#records.buildsOfJobs(ids);
  }

  /** Why each of these builds waits, in a sentence, by its id. */
  async whyEach(buildIds: string[]): Promise<Map<string, string>> {
    return this.#records.whyEach(buildIds);
  }

  /** Why a build waits, with the reasons for each agent. */
  async explain(buildId: string): Promise<Result<Explanation>> {
    return this.#records.explanation(buildId);
  }

  /** Counts for dashboards and autoscaling. Those of a large pool are counted at most every five seconds. */
  async metrics(): Promise<Metrics> {
    return this.#records.metrics();
  }

  /** Counts of active builds, for the head of every page. */
  async now(role: Role): Promise<PoolNow> {
    return this.#records.now(role);
  }

  /** What these agents run, and ran within the last hour, for the pages of the fleet. */
  async runs(agentIds: string[]): Promise<AgentRun[]> {
    return this.#records.runs(agentIds);
  }

  /** Creates the object where it does not exist yet. */
  async touch(): Promise<void> {}

  /** The operator set other limits. A call that is lost is made up for when this object wakes next. */
  async limitsChanged(own: OwnLimits): Promise<void> {
    this.#engine.limits = limitsOf(own);
  }

  async registerAgent(agent: commands.NewAgent): Promise<Result<Agent>> {
    this.#checkOrg(agent.orgId);
    return this.#records.toAgentAnswer(this.#engine.step("registerAgent", agent));
  }

  /** Agents in the order of their ids, so that pages stay right while agents are added and removed. */
  async listAgents(after = "", limit = Number.POSITIVE_INFINITY, name?: string): Promise<Agent[]> {
    return this.#records.agents(after, limit, name);
  }

  async getAgent(agentId: string): Promise<Result<Agent>> {
    return this.#records.findAgent(agentId);
  }

  async updateAgent(agentId: string, change: AgentChange, actor: commands.Actor): Promise<Result<Agent>> {
    return this.#records.toAgentAnswer(this.#engine.step("updateAgent", { agentId, change, actor }));
  }

  async removeAgent(agentId: string, actor: commands.Actor): Promise<Result<null>> {
    const answer = this.#engine.step("removeAgent", { agentId, actor });
    if (answer.ok) this.#engine.sockets.closeAll(agentId);
    return answer;
  }

  /** Removes some of the agents that a revoked token registered. `left` counts those that another call removes. */
  async removeAgentsOf(request: {
    tokenId: string;
    /** Whether the token was valid until now, so that a registration with it may still arrive. */
    wasThere: boolean;
    actor: commands.Actor;
  }): Promise<Result<{ removed: number; left: number }>> {
    const answer = this.#engine.step("removeAgentsOf", request);
    if (!answer.ok) return answer;
    const { removed, left } = answer.value;
    for (const agentId of removed) this.#engine.sockets.closeAll(agentId);
    return { ok: true, value: { removed: removed.length, left } };
  }

  /** The agent that a token belongs to. Only the pool knows whether an agent's token is valid. */
  async authenticateAgent(tokenHash: string): Promise<Result<{ agentId: string }>> {
    return this.#engine.step("authenticateAgent", { tokenHash });
  }

  /** Leases the next job to the agent: the same one again until it has started it; null where there is none. */
  async claim(request: commands.ClaimRequest): Promise<Result<commands.ClaimedJob | null>> {
    if (this.#engine.state.builds.size > 0) await this.#engine.reconciler.comparedSoon();
    const answer = this.#engine.step("claim", request);
    return answer.ok && answer.value
      ? { ok: true, value: this.#records.claimedJob(answer.value) }
      : (answer as Result<null>);
  }

  /** The last check before the Worker sends secrets. @returns the build as the agent receives it */
  async deliver(delivery: commands.JobDelivery): Promise<Result<{ build: Build; leaseExpiresAt: string }>> {
    const answer = this.#engine.step("deliver", delivery);
    if (!answer.ok) return answer;
    const { jobId, expiresAt } = answer.value;
    const build = this.#records.buildOfJob({ ok: true, value: jobId });
    return build.ok
      ? { ok: true, value: { build: build.value, leaseExpiresAt: new Date(expiresAt).toISOString() } }
      : build;
  }

  /** What the agent holds, for what it asks the service after it has started: its environment, its plan. */
  async granted(holder: ByToken<commands.LeaseHolder>): Promise<Result<commands.ClaimedJob & { agentId: string }>> {
    return this.#records.findOpenClaimedJob(this.#withAgentId(holder));
  }

  async unclaim(request: commands.Unclaim): Promise<Result<null>> {
    return this.#engine.step("unclaim", request);
  }

  async failClaim(request: commands.FailClaim): Promise<Result<Build>> {
    return this.#records.buildOfJob(this.#engine.step("failClaim", request));
  }

  async start(holder: ByToken<commands.LeaseHolder>): Promise<Result<Build>> {
    return this.#records.buildOfJob(this.#engine.step("start", this.#withAgentId(holder)));
  }

  async heartbeat(request: commands.HeartbeatRequest): Promise<Result<Heartbeat>> {
    return this.#engine.step("heartbeat", request);
  }

  async progress(report: ByToken<commands.ProgressReport>): Promise<Result<null>> {
    return this.#engine.step("progress", this.#withAgentId(report));
  }

  /**
   * Stores a report of steps whose texts it has already, masked. @returns false where it has another text, or values to
   * mask came since: then the log masks first
   */
  async repeatSteps(report: ByToken<commands.ProgressReport>): Promise<Result<boolean>> {
    const identified = this.#withAgentId(report);
    const masked = this.#engine.storage.maskedTexts(identified.jobId);
    const isMasked = report.steps?.every(({ id, name }) => masked.has(name) && masked.has(id ?? name));
    if (!isMasked || report.summary !== undefined) return { ok: true, value: false };
    const answer = this.#engine.step("progress", identified);
    return answer.ok ? { ok: true, value: true } : answer;
  }

  async release(request: ByToken<commands.ReleaseRequest>): Promise<Result<Build>> {
    return this.#records.buildOfJob(this.#engine.step("release", this.#withAgentId(request)));
  }

  /** `tests`: what the tests of the job said, where others have to hear of them. */
  async finish(report: ByToken<commands.FinishReport>): Promise<Result<Build> & { tests?: TestsOfJob }> {
    const named = this.#withAgentId(report);
    const answer = this.#engine.step("finish", named);
    this.#engine.closeEnded();
    const tests = answer.ok ? this.#records.testNews(named.jobId) : undefined;
    return { ...this.#records.buildOfJob(answer), ...(tests && { tests }) };
  }

  /** The agent of a first job read a file with jobs in the commit: they take its place, and its lease is over. */
  async plan(request: ByToken<commands.PlanRequest>): Promise<Result<PlannedJobs>> {
    const answer = this.#engine.step("plan", this.#withAgentId(request));
    this.#engine.closeEnded();
    return answer;
  }

  /** The agent of a build read a file with mistakes: the build has failed with them. */
  async refusePlan(request: ByToken<commands.PlanRefused>): Promise<Result<Build>> {
    const answer = this.#engine.step("refusePlan", this.#withAgentId(request));
    this.#engine.closeEnded();
    return this.#records.buildOfJob(answer);
  }

  /** A person lets a job run, or not. */
  async decideGate(request: commands.GateRequest): Promise<Result<Build>> {
    return this.#records.toBuildAnswer(this.#engine.step("decideGate", request));
  }

  /** One planned job, that is active or ended within 24 hours. */
  async getJob(jobId: string): Promise<Result<BuildJob>> {
    return this.#records.job(jobId);
  }

  /** Begins an artifact of what the agent holds, or finds the one that it began before. */
  async openArtifact(request: ByToken<OpenArtifact>): Promise<Result<ArtifactFacts>> {
    await this.#engine.reconciler.comparedSoon();
    return this.#room.openArtifact(this.#withAgentId(request));
  }

  /** All bytes of an artifact are in the archive: it is kept, should the job end under this lease. */
  async keepArtifact(request: ByToken<KeepArtifact>): Promise<Result<ArtifactFacts>> {
    return this.#engine.step("keepArtifact", this.#withAgentId(request));
  }

  /** What was sent of an artifact is of no use. @returns whether it is not kept */
  async discardArtifact(request: ByToken<KeepArtifact>): Promise<Result<boolean>> {
    return this.#engine.step("discardArtifact", this.#withAgentId(request));
  }

  /** A person deleted an artifact of an ended job. */
  async removeArtifact(request: DeletedArtifact): Promise<Result<null>> {
    return this.#room.removeArtifact(request);
  }

  /** What an active or remembered build left so far; `id` is its own, or that of one of its jobs. */
  async artifactsOf(id: string): Promise<Result<{ buildId: string; artifacts: ArtifactsOfBuild }>> {
    return this.#records.findArtifacts(id);
  }

  /** What the tests of an active or remembered build said so far; `id` is its own, or that of one of its jobs. */
  async testsOf(id: string): Promise<Result<{ buildId: string; tests: TestsOfBuild }>> {
    return this.#records.findTests(id);
  }

  /** The build of what the agent holds. */
  async heldBuild(holder: ByToken<commands.LeaseHolder>): Promise<Result<Pick<Build, "id" | "repoId" | "commitSha">>> {
    return this.#records.heldBuild(this.#withAgentId(holder));
  }

  /** What the jobs left that the held job needs, and the names of the other jobs of its build. */
  async neededArtifacts(
    holder: ByToken<commands.LeaseHolder>,
  ): Promise<Result<{ needed: NeededArtifacts[]; others: string[] }>> {
    const named = this.#withAgentId(holder);
    const held = this.#records.checkHeld(named);
    return held.ok ? { ok: true, value: neededArtifacts(this.#engine.state, named.jobId) } : held;
  }

  /** What a held job builds: for the scopes of the cache, under a lease that stands. */
  async cacheFacts(holder: ByToken<commands.LeaseHolder>): Promise<Result<CacheFacts>> {
    return this.#records.findCacheFacts(this.#withAgentId(holder));
  }

  /** Counts an entry that a held job begins to save, unless the organization has no room for it. */
  async beginSaving({
    bytes,
    cacheId,
    parts,
    ...holder
  }: ByToken<commands.LeaseHolder> & BegunSaving): Promise<Result<null>> {
    await this.#engine.reconciler.comparedSoon();
    const held = this.#records.checkHeld(this.#withAgentId(holder));
    return held.ok ? this.#room.beginSaving({ bytes, cacheId, parts }) : held;
  }

  /** All parts of an entry that was begun are one object now. */
  async saved(entry: Pick<BegunSaving, "cacheId" | "bytes">): Promise<void> {
    if (!this.#engine.removal.isClosed) this.#engine.storage.stored.saved(entry, Date.now());
  }

  /** The archive has so many bytes of the organization's cache. */
  async cacheCounted(bytes: number): Promise<void> {
    if (!this.#engine.removal.isClosed) this.#engine.storage.stored.counted(bytes, Date.now());
  }

  /** The plan of a build, with what its ended jobs gave, for a retry. */
  async planOf(buildId: string): Promise<Result<commands.PlanOfBuild>> {
    return this.#records.findPlan(buildId);
  }

  /** Tells the agent of the job that somebody began to follow its log. */
  async followed({ jobId }: { jobId: string }): Promise<void> {
    const agentId = this.#engine.state.jobs.get(jobId)?.lease?.agentId;
    if (agentId) this.#engine.sockets.push([{ agentId, hint: { type: "followed", buildId: jobId } }], Date.now());
  }

  /** Marks a job whose agent sent a secret that only the service masked, and its build. */
  async flagLeak(leak: { jobId: string; fence: number }): Promise<Result<null>> {
    return this.#engine.step("flagLeak", leak);
  }

  /** Ends what is overdue, and deletes what is old. */
  async sweep(): Promise<PoolNumbers> {
    this.#engine.sweep();
    return this.#engine.numbers();
  }

  /** Makes one attempt on each channel on which something waits. */
  async flush(): Promise<void> {
    await this.#engine.courier.deliverAll();
  }

  /** What could not be delivered or read, after `after` in the order in which it was set aside. */
  async deadLetters(after: number, limit: number): Promise<ListedDeadLetter[]> {
    return this.#engine.storage.deadLetters.list(after, limit);
  }

  /** Tries dead letters again. @returns how many are on their way */
  async retryDeadLetters(seqs: number[]): Promise<number> {
    return this.#engine.retryDeadLetters(seqs);
  }

  /** Answers nobody from now on: the organization is being deleted. May be repeated. */
  async close(): Promise<void> {
    this.#engine.close();
  }

  /** Forgets builds whose logs are purged. @returns the ids of at most `limit` others that it knows */
  async forgetBuilds(ids: string[], limit: number): Promise<string[]> {
    return this.#engine.removal.forgetBuilds(ids, limit);
  }

  /** Deletes everything that this object holds, after `close`. */
  async destroy(): Promise<void> {
    await this.#engine.destroy();
  }

  /** Takes over what D1 knows of these builds, which it has under way. */
  async reconcile(buildIds: string[]): Promise<Result<Reconciled>> {
    return this.#engine.reconciler.reconcile(buildIds);
  }

  /** An operator says that D1, or the pools, were restored to an earlier time. */
  async restored(what: "database" | "pools"): Promise<Result<Reconciled>> {
    const done = await this.#engine.reconciler.restored(what);
    await this.#engine.courier.tell("lists");
    return done;
  }

  /** Sets this pool back to a time (milliseconds since 1970) at its next start. @returns how to undo that */
  async restoreTo(at: number): Promise<string> {
    const bookmark = await this.ctx.storage.getBookmarkForTime(at);
    return this.ctx.storage.onNextSessionRestoreBookmark(bookmark);
  }

  /** Starts anew with the next call, after what it told D1 has arrived. @throws always: nothing is answered */
  async restart(): Promise<void> {
    await this.#engine.courier.settled();
    this.ctx.abort("The operator sets this pool back");
  }

  /** Remembers tokens, and hashes of their replaced secrets, that are no longer valid. */
  async revoke(names: string[]): Promise<Result<null>> {
    return this.#engine.step("revoke", { names });
  }

  /** Opens a socket on which an agent, or a Worker in a long poll until a deadline, waits for hints. */
  override async fetch({ headers }: Request): Promise<Response> {
    return this.#waiting.open(headers);
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.#waiting.receive(socket, message);
  }

  override webSocketClose(socket: WebSocket): void {
    socket.close();
    this.#waiting.leave(socket);
  }

  override webSocketError(socket: WebSocket): void {
    this.#waiting.leave(socket);
  }

  override async alarm(info?: AlarmInvocationInfo): Promise<void> {
    await this.#engine.onAlarm(info?.isRetry ?? false);
  }

  /** @throws where a build or agent of another organization was sent to this pool */
  #checkOrg(orgId: string): void {
    const name = this.ctx.id.name;
    if (name !== undefined && name !== poolName(orgId)) throw new Error("This is another organization's pool");
  }

  #withAgentId<T extends { agentId?: string; tokenHash: string; jobId: string }>(call: T): T & { agentId: string } {
    const agentId = call.agentId ?? this.#engine.state.index.agentByToken.get(call.tokenHash) ?? "";
    return { ...call, agentId };
  }
}
