import { DurableObject } from "cloudflare:workers";
import { loadKeyring } from "../crypto/keyring.ts";
import { poolName } from "../domain/object-names.ts";
import type * as asked from "../domain/pool/commands.ts";
import { explain } from "../domain/pool/explain.ts";
import { measure } from "../domain/pool/metrics.ts";
import { toAgent, toBuild } from "../domain/pool/record.ts";
import { RULES } from "../domain/pool/rules.ts";
import type { Agent } from "../protocol/agent.ts";
import type { Build } from "../protocol/build.ts";
import type { Explanation } from "../protocol/explain.ts";
import { HOP_HEADERS } from "../protocol/headers.ts";
import { BOOT_HEADER, type Heartbeat } from "../protocol/jobs.ts";
import type { Metrics } from "../protocol/metrics.ts";
import { DETAILS } from "../protocol/problem.ts";
import { PoolEngine } from "./agent-pool-engine.ts";
import { countInputs, rewrapInputs } from "./agent-pool-inputs.ts";
import { attachmentOf } from "./agent-pool-sockets.ts";
import type { BuildRecord } from "./agent-pool-storage.ts";

type Result<T> = asked.Result<T>;
/** Words of an agent that its token alone may name, which spares the caller asking first whose token it is. */
type ByToken<T extends asked.LeaseHolder> = Omit<T, "agentId"> & { agentId?: string };

/** The agents and live builds of one organization: what may be asked of them, and how that is answered. */
export class AgentPool extends DurableObject<Env> {
  readonly #engine: PoolEngine;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#engine = new PoolEngine(ctx, env);
    ctx.blockConcurrencyWhile(() => this.#engine.load());
  }

  /** Makes a build, once per idempotency key. Lists know of it before this answers, where D1 is quick. */
  async enqueue(build: asked.NewBuild): Promise<Result<Build>> {
    this.#own(build.orgId);
    const answer = this.#engine.step("enqueue", build);
    if (!answer.ok) return answer;
    await this.#engine.waitForFlush(answer.value.buildId);
    return this.getBuild(answer.value.buildId);
  }

  async getBuild(buildId: string): Promise<Result<Build>> {
    const found = this.#engine.storage.record(buildId);
    return found ? { ok: true, value: this.#toBuild(found) } : unknownId();
  }

  /** Builds that wait or are in an agent's hands, oldest first. */
  async liveBuilds(): Promise<Build[]> {
    return this.#engine.storage.activeRecords().map((found) => this.#toBuild(found));
  }

  /** What a retry of a build takes over, for 90 days. */
  async inputsOf(buildId: string): Promise<Result<asked.RetryInputs>> {
    const inputs = this.#engine.storage.inputs(buildId);
    return inputs ? { ok: true, value: inputs } : unknownId();
  }

  /** How many runs' values are kept under each key of the keyring. */
  async sealedInputs(): Promise<Record<string, number>> {
    return countInputs(this.ctx.storage.sql);
  }

  async rewrapInputs(orgId: string, limit: number): Promise<{ rewrapped: number; unopenable: string[] }> {
    return rewrapInputs(this.ctx.storage.sql, loadKeyring(this.env.SECRETS_KEYS), orgId, limit);
  }

  async hasLiveBuilds(of: { repoId?: string; pipelineId?: string }): Promise<boolean> {
    return [...this.#engine.state.builds.values()].some(
      ({ repoId, pipelineId }) => repoId === of.repoId || (!!of.pipelineId && pipelineId === of.pipelineId),
    );
  }

  async cancel(order: { buildId: string; actor: asked.Actor }): Promise<Result<Build>> {
    return this.#buildOf(this.#engine.step("cancel", order));
  }

  /** Why a build waits, agent by agent. */
  async explain(buildId: string): Promise<Result<Explanation>> {
    const found = this.#engine.storage.record(buildId);
    if (!found) return unknownId();
    const pingedAt = (agentId: string) => this.#engine.sockets.pingedAt(agentId);
    return { ok: true, value: explain(this.#engine.state, found.build, found.job, this.#engine.context, pingedAt) };
  }

  /** Counts for dashboards and autoscaling. */
  async metrics(): Promise<Metrics> {
    const deadLetters = this.#engine.storage.deadLetterCount();
    return measure(this.#engine.state, this.#engine.orgId, this.#engine.context, deadLetters, (agentId) =>
      this.#engine.sockets.pingedAt(agentId),
    );
  }

  async registerAgent(agent: asked.NewAgent): Promise<Result<Agent>> {
    this.#own(agent.orgId);
    return this.#agentOf(this.#engine.step("registerAgent", agent));
  }

  /** By their ids, so that pages stay right while agents come and go. */
  async listAgents(after = "", atMost = Number.POSITIVE_INFINITY, name?: string): Promise<Agent[]> {
    const wanted = [...this.#engine.state.agents.values()].filter(
      (agent) => agent.id > after && (name === undefined || agent.name === name),
    );
    const ids = wanted.map(({ id }) => id).sort();
    return ids.slice(0, atMost).map((id) => this.#toAgent(id));
  }

  async getAgent(agentId: string): Promise<Result<Agent>> {
    return this.#engine.state.agents.has(agentId) ? { ok: true, value: this.#toAgent(agentId) } : unknownId();
  }

  async updateAgent(agentId: string, change: asked.AgentChange, actor: asked.Actor): Promise<Result<Agent>> {
    return this.#agentOf(this.#engine.step("updateAgent", { agentId, change, actor }));
  }

  async removeAgent(agentId: string, actor: asked.Actor): Promise<Result<null>> {
    const answer = this.#engine.step("removeAgent", { agentId, actor });
    if (answer.ok) this.#engine.sockets.dismiss(agentId);
    return answer;
  }

  /** Removes agents that a revoked token registered, and tells how many are left to be removed. */
  async removeAgentsOf(order: {
    tokenId: string;
    /** Whether the token was there until just now, so that a registration by it may be under way. */
    wasThere: boolean;
    actor: asked.Actor;
  }): Promise<Result<{ removed: number; left: number }>> {
    const answer = this.#engine.step("removeAgentsOf", order);
    if (!answer.ok) return answer;
    const { removed, left } = answer.value;
    for (const agentId of removed) this.#engine.sockets.dismiss(agentId);
    return { ok: true, value: { removed: removed.length, left } };
  }

  /** Whose token this is: the pool is the judge of agents' tokens. */
  async authenticateAgent(tokenHash: string): Promise<Result<{ agentId: string }>> {
    return this.#engine.step("authenticateAgent", { tokenHash });
  }

  /** The next build for an agent, or null; the same one again while it has not started it. */
  async claim(claim: asked.Claim): Promise<Result<asked.Grant | null>> {
    const answer = this.#engine.step("claim", claim);
    return answer.ok && answer.value ? { ok: true, value: this.#grantOf(answer.value) } : (answer as Result<null>);
  }

  /** The last word before secrets leave. @returns the build as it is handed out */
  async deliver(delivery: asked.Delivery): Promise<Result<{ build: Build; leaseExpiresAt: string }>> {
    const answer = this.#engine.step("deliver", delivery);
    if (!answer.ok) return answer;
    const { buildId, expiresAt } = answer.value;
    return { ok: true, value: { build: this.#build(buildId), leaseExpiresAt: new Date(expiresAt).toISOString() } };
  }

  async unclaim(back: asked.Unclaim): Promise<Result<null>> {
    return this.#engine.step("unclaim", back);
  }

  async failClaim(failed: asked.FailClaim): Promise<Result<Build>> {
    return this.#buildOf(this.#engine.step("failClaim", failed));
  }

  async start(holder: ByToken<asked.LeaseHolder>): Promise<Result<Build>> {
    return this.#buildOf(this.#engine.step("start", this.#known(holder)));
  }

  async heartbeat(beat: asked.HeartbeatCall): Promise<Result<Heartbeat>> {
    return this.#engine.step("heartbeat", beat);
  }

  async progress(told: ByToken<asked.ProgressOf>): Promise<Result<null>> {
    return this.#engine.step("progress", this.#known(told));
  }

  async release(given: ByToken<asked.ReleaseOf>): Promise<Result<Build>> {
    return this.#buildOf(this.#engine.step("release", this.#known(given)));
  }

  async finish(told: ByToken<asked.FinishOf>): Promise<Result<Build>> {
    return this.#buildOf(this.#engine.step("finish", this.#known(told)));
  }

  /** The service masked a secret that the agent had let through. */
  async flagLeak(leak: { buildId: string; fence: number }): Promise<Result<null>> {
    return this.#engine.step("flagLeak", leak);
  }

  /** Ends what is overdue, and forgets what is old. */
  async sweep(): Promise<void> {
    this.#engine.sweep();
  }

  /** Writes what D1 and the logs do not know yet. */
  async flush(): Promise<void> {
    await this.#engine.flush();
  }

  /** An agent, or a Worker that polls for one until a deadline, comes to wait for a hint. */
  override async fetch({ headers }: Request): Promise<Response> {
    if (headers.get("Upgrade") !== "websocket") return new Response(null, { status: 426 });
    const { sockets } = this.#engine;
    const now = Date.now();
    const agentId = headers.get(HOP_HEADERS.agentId) ?? "";
    const deadline = headers.get(HOP_HEADERS.deadline);
    const until = deadline === null ? null : Number(deadline);
    const call = {
      ...{ agentId, tokenHash: headers.get(HOP_HEADERS.tokenHash) ?? "", bootId: headers.get(BOOT_HEADER) },
      until: sockets.reachableUntil(agentId, now) === null ? null : until,
    };
    const expected = this.#engine.foresee("wait", call);
    if (!expected.ok) return new Response(null, { status: expected.refusal.kind === "unauthenticated" ? 401 : 409 });
    const client = sockets.accept({ agentId, until, openedAt: now });
    this.#engine.step("wait", call);
    return new Response(null, { status: 101, webSocket: client });
  }

  /** Pings are answered before they come here: whatever does come is no message of the protocol. */
  override webSocketMessage(socket: WebSocket): void {
    if (this.#engine.sockets.refuse(socket)) this.#left(socket);
  }

  override webSocketClose(socket: WebSocket): void {
    socket.close();
    this.#left(socket);
  }

  override webSocketError(socket: WebSocket): void {
    this.#left(socket);
  }

  override async alarm(): Promise<void> {
    await this.#engine.onAlarm();
  }

  #left(socket: WebSocket): void {
    const { agentId } = attachmentOf(socket);
    if (this.#engine.sockets.reachableUntil(agentId, Date.now(), socket) === undefined)
      this.#engine.step("leave", { agentId });
  }

  /** @throws where a build or agent of one organization comes to the pool of another */
  #own(orgId: string): void {
    const name = this.ctx.id.name;
    if (name !== undefined && name !== poolName(orgId)) throw new Error("This is another organization's pool");
  }

  #known<T extends { agentId?: string; tokenHash: string }>(words: T): T & { agentId: string } {
    return { ...words, agentId: words.agentId ?? this.#engine.state.index.agentByToken.get(words.tokenHash) ?? "" };
  }

  #toBuild({ build, job, report }: BuildRecord): Build {
    return toBuild(this.#engine.orgId, build, job, report);
  }

  #build(buildId: string): Build {
    return this.#toBuild(this.#engine.storage.record(buildId)!);
  }

  #buildOf(answer: Result<string>): Result<Build> {
    return answer.ok ? { ok: true, value: this.#build(answer.value) } : answer;
  }

  #toAgent(agentId: string): Agent {
    const agent = this.#engine.state.agents.get(agentId)!;
    return toAgent(this.#engine.state, this.#engine.orgId, agent, Date.now(), this.#engine.sockets.pingedAt(agentId));
  }

  #agentOf(answer: Result<string>): Result<Agent> {
    return answer.ok ? { ok: true, value: this.#toAgent(answer.value) } : answer;
  }

  #grantOf({ buildId, fence, expiresAt }: { buildId: string; fence: number; expiresAt: number }): asked.Grant {
    const found = this.#engine.storage.record(buildId)!;
    const { repoId, pipelineId, pipelineVersion } = found.build;
    const { requires, timeoutSeconds } = found.job;
    const mayGoElsewhere = RULES.mayGoElsewhere(found.job);
    const { inputs = null, secretKeys = [] } = this.#engine.storage.inputs(buildId) ?? {};
    return {
      ...{ buildId, fence, leaseExpiresAt: new Date(expiresAt).toISOString(), build: this.#toBuild(found) },
      ...{ repoId, pipelineId, pipelineVersion, requires, timeoutSeconds, mayGoElsewhere, inputs, secretKeys },
    };
  }
}

const unknownId = (): Result<never> => ({
  ok: false,
  refusal: { kind: "not-found", detail: DETAILS["not-found"] },
});
