import { DurableObject } from "cloudflare:workers";
import { poolTimes } from "../config.ts";
import { loadKeyring } from "../crypto/keyring.ts";
import { buildLogName } from "../domain/log-name.ts";
import type * as asked from "../domain/pool/commands.ts";
import type { Setting } from "../domain/pool/decision.ts";
import { explain } from "../domain/pool/explain.ts";
import { measure } from "../domain/pool/metrics.ts";
import { poolName } from "../domain/pool/name.ts";
import { toAgent, toBuild } from "../domain/pool/record.ts";
import { RULES } from "../domain/pool/rules.ts";
import { apply, type PoolState } from "../domain/pool/state.ts";
import { type Input, nextDue, nextOfferDue, type Output, play, type Verb } from "../domain/pool/step.ts";
import type { Agent } from "../protocol/agent.ts";
import type { Build } from "../protocol/build.ts";
import type { Explanation } from "../protocol/explain.ts";
import { BOOT_HEADER, type Heartbeat } from "../protocol/jobs.ts";
import type { Metrics } from "../protocol/metrics.ts";
import { countInputs, rewrapInputs } from "./agent-pool-inputs.ts";
import { Outbox } from "./agent-pool-outbox.ts";
import { attachmentOf, HintSockets } from "./agent-pool-sockets.ts";
import { type BuildRecord, PoolStorage } from "./agent-pool-storage.ts";
import type { BuildLog } from "./build-log.ts";
import { uuidsInOrder } from "./uuid.ts";

type Result<T> = asked.Result<T>;

/** Milliseconds a trigger waits for D1 to know its build; after that the alarm carries it there. */
const FLUSH_PATIENCE_MS = 1_000;
/** Milliseconds after which an alarm rings again, should the one that rings now come to nothing. */
const SAFETY_MS = 60_000;
const TIDY_MS = 60 * 60 * 1000;

/**
 * The agents and live builds of one organization: a thin shell around the machine of `domain/pool`. It keeps the
 * state in memory while it is awake, stores what each decision changes in one transaction, and then lets the hints out.
 */
export class AgentPool extends DurableObject<Env> {
  readonly #storage: PoolStorage;
  readonly #sockets: HintSockets;
  readonly #outbox: Outbox;
  #state!: PoolState;
  #alarmAt: number | null = null;
  #timer: { at: number; handle: ReturnType<typeof setTimeout> } | null = null;
  #flushing: Promise<void> | null = null;
  #tidiedAt = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#storage = new PoolStorage(ctx.storage.sql, uuidsInOrder());
    this.#sockets = new HintSockets(ctx);
    this.#outbox = new Outbox(env.DB, this.#storage, (buildId, fence) => this.#closeLog(buildId, fence));
    ctx.blockConcurrencyWhile(async () => {
      this.#alarmAt = await ctx.storage.getAlarm();
      this.#state = this.#storage.load(Date.now());
      const fresh = { ignored: 0, ignoredAt: 0 };
      const waiting = this.#sockets.waiting(Date.now());
      apply(
        this.#state,
        waiting.map(({ agentId, until }) => ({ kind: "waiter", agentId, waiter: { until, ...fresh } })),
      );
      this.#arm();
    });
  }

  /** Makes a build, once per idempotency key. Lists know of it before this answers, where D1 is quick. */
  async enqueue(build: asked.NewBuild): Promise<Result<Build>> {
    this.#own(build.orgId);
    const answer = this.#play("enqueue", build);
    if (!answer.ok) return answer;
    await this.#flushed(answer.value.buildId);
    return this.getBuild(answer.value.buildId);
  }

  async getBuild(buildId: string): Promise<Result<Build>> {
    const found = this.#storage.record(buildId);
    return found ? { ok: true, value: this.#toBuild(found) } : unknownId();
  }

  /** Builds that wait or are in an agent's hands, oldest first. */
  async liveBuilds(): Promise<Build[]> {
    return this.#storage.recordsUnderWay().map((found) => this.#toBuild(found));
  }

  /** What a retry of a build takes over, for 90 days. */
  async inputsOf(buildId: string): Promise<Result<asked.RetryInputs>> {
    const inputs = this.#storage.inputs(buildId);
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
    return [...this.#state.builds.values()].some(
      ({ repoId, pipelineId }) => repoId === of.repoId || (!!of.pipelineId && pipelineId === of.pipelineId),
    );
  }

  async cancel(order: { buildId: string; actor: asked.Actor }): Promise<Result<Build>> {
    return this.#buildOf(this.#play("cancel", order));
  }

  /** Why a build waits, agent by agent. */
  async explain(buildId: string): Promise<Result<Explanation>> {
    const found = this.#storage.record(buildId);
    if (!found) return unknownId();
    const pingedAt = (agentId: string) => this.#sockets.pingedAt(agentId);
    return { ok: true, value: explain(this.#state, found.build, found.job, this.#setting(), pingedAt) };
  }

  /** Counts for dashboards and autoscaling. */
  async metrics(): Promise<Metrics> {
    const parked = this.#storage.parkedCount();
    return measure(this.#state, this.#orgId(), this.#setting(), parked, (agentId) => this.#sockets.pingedAt(agentId));
  }

  async registerAgent(agent: asked.NewAgent): Promise<Result<Agent>> {
    this.#own(agent.orgId);
    return this.#agentOf(this.#play("registerAgent", agent));
  }

  async listAgents(): Promise<Agent[]> {
    const agents = [...this.#state.agents.values()];
    return agents
      .sort((left, right) => left.createdAt - right.createdAt || (left.id < right.id ? -1 : 1))
      .map(({ id }) => this.#toAgent(id));
  }

  async getAgent(agentId: string): Promise<Result<Agent>> {
    return this.#state.agents.has(agentId) ? { ok: true, value: this.#toAgent(agentId) } : unknownId();
  }

  async updateAgent(agentId: string, change: asked.AgentChange, actor: asked.Actor): Promise<Result<Agent>> {
    return this.#agentOf(this.#play("updateAgent", { agentId, change, actor }));
  }

  async removeAgent(agentId: string, actor: asked.Actor): Promise<Result<null>> {
    const answer = this.#play("removeAgent", { agentId, actor });
    if (answer.ok) this.#sockets.dismiss(agentId);
    return answer;
  }

  /** Whose token this is: the pool is the judge of agents' tokens. */
  async authenticateAgent(tokenHash: string): Promise<Result<{ agentId: string }>> {
    return this.#play("authenticateAgent", { tokenHash });
  }

  /** The next build for an agent, or null; the same one again while it has not started it. */
  async claim(claim: asked.Claim): Promise<Result<asked.Grant | null>> {
    const answer = this.#play("claim", claim);
    return answer.ok && answer.value ? { ok: true, value: this.#grantOf(answer.value) } : (answer as Result<null>);
  }

  /** The last word before secrets leave. @returns the build as it is handed out */
  async deliver(delivery: asked.Delivery): Promise<Result<{ build: Build; leaseExpiresAt: string }>> {
    const answer = this.#play("deliver", delivery);
    if (!answer.ok) return answer;
    const { buildId, expiresAt } = answer.value;
    return { ok: true, value: { build: this.#build(buildId), leaseExpiresAt: new Date(expiresAt).toISOString() } };
  }

  async unclaim(back: asked.Unclaim): Promise<Result<null>> {
    return this.#play("unclaim", back);
  }

  async failClaim(failed: asked.FailClaim): Promise<Result<Build>> {
    return this.#buildOf(this.#play("failClaim", failed));
  }

  async start(holder: asked.Holder): Promise<Result<Build>> {
    return this.#buildOf(this.#play("start", holder));
  }

  async heartbeat(beat: asked.Beat): Promise<Result<Heartbeat>> {
    return this.#play("heartbeat", beat);
  }

  async progress(told: asked.ProgressOf): Promise<Result<null>> {
    return this.#play("progress", told);
  }

  async release(given: asked.ReleaseOf): Promise<Result<Build>> {
    return this.#buildOf(this.#play("release", given));
  }

  async finish(told: asked.FinishOf): Promise<Result<Build>> {
    return this.#buildOf(this.#play("finish", told));
  }

  /** The service masked a secret that the agent had let through. */
  async flagLeak(leak: { buildId: string; fence: number }): Promise<Result<null>> {
    return this.#play("flagLeak", leak);
  }

  /** Ends what is overdue, and forgets what is old. */
  async sweep(): Promise<void> {
    const now = Date.now();
    if (now - this.#tidiedAt < TIDY_MS) return void this.#play("sweep", null);
    this.#play("tidy", null);
    this.#tidiedAt = now;
  }

  /** Writes what D1 and the logs do not know yet. */
  async flush(): Promise<void> {
    await this.#flushing;
    if (this.#state.flush.at !== null) await this.#attemptFlush();
  }

  /** An agent, or a Worker that polls for one, comes to wait for a hint. */
  override async fetch(request: Request): Promise<Response> {
    const { headers } = request;
    const agentId = headers.get("X-Agent-Id") ?? "";
    const deadline = headers.get("X-Deadline");
    const now = Date.now();
    const until = deadline === null ? null : Number(deadline);
    const known = this.#sockets.reachableUntil(agentId, now);
    const call = {
      agentId,
      tokenHash: headers.get("X-Token-Hash") ?? "",
      bootId: headers.get(BOOT_HEADER),
      until: known === null ? null : until,
    };
    if (headers.get("Upgrade") !== "websocket") return new Response(null, { status: 426 });
    if (!this.#play("authenticateAgent", call).ok) return new Response(null, { status: 401 });
    const client = this.#sockets.accept({ agentId, until, openedAt: now });
    this.#play("wait", call);
    return new Response(null, { status: 101, webSocket: client });
  }

  override webSocketClose(socket: WebSocket): void {
    socket.close();
    this.#left(socket);
  }

  override webSocketError(socket: WebSocket): void {
    this.#left(socket);
  }

  /** Rings for everything that is due. Rearmed first: an alarm that fails six times is never rung again. */
  override async alarm(): Promise<void> {
    this.#setAlarm(Date.now() + SAFETY_MS);
    try {
      await this.sweep();
      const { at } = this.#state.flush;
      if (at !== null && at <= Date.now()) await this.flush();
      this.#setAlarm(nextDue(this.#state));
    } catch (error) {
      console.error("pool: the alarm's work failed and will be tried again", error);
    }
  }

  #left(socket: WebSocket): void {
    const { agentId } = attachmentOf(socket);
    if (this.#sockets.reachableUntil(agentId, Date.now(), socket) === undefined) this.#play("leave", { agentId });
  }

  /** One step of the machine, stored whole before anyone hears of it, or the object is no more. */
  #play<V extends Verb>(verb: V, input: Input<V>): Result<Output<V>> {
    const setting = this.#setting();
    try {
      const { answer, pushes } = this.ctx.storage.transactionSync(() =>
        play(this.#state, verb, input, setting, (changes) => this.#storage.store(changes)),
      );
      this.#sockets.push(pushes, setting.now);
      this.#arm();
      return answer;
    } catch (error) {
      this.ctx.abort(`The pool could not store a decision: ${verb}`);
      throw error;
    }
  }

  #setting(): Setting {
    return { now: Date.now(), ...poolTimes(this.env), rules: RULES };
  }

  /** Sets the alarm for what is due next, unless it rings early enough; and the timer for hints nobody follows. */
  #arm(): void {
    this.#armTimer();
    const due = nextDue(this.#state);
    if (due !== null && (this.#alarmAt === null || due < this.#alarmAt)) this.#setAlarm(due);
  }

  #setAlarm(at: number | null): void {
    this.#alarmAt = at;
    if (at === null) this.ctx.storage.deleteAlarm();
    else this.ctx.storage.setAlarm(at);
  }

  #armTimer(): void {
    const at = nextOfferDue(this.#state);
    if (at === (this.#timer?.at ?? null)) return;
    if (this.#timer) clearTimeout(this.#timer.handle);
    this.#timer = null;
    if (at === null) return;
    const ring = () => {
      this.#timer = null;
      this.#play("sweep", null);
    };
    this.#timer = { at, handle: setTimeout(ring, Math.max(0, at - Date.now())) };
  }

  /** Waits, not for long, until D1 knows of a build. */
  async #flushed(buildId: string): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FLUSH_PATIENCE_MS);
    });
    const known = async () => {
      await this.#flushing;
      if (this.#state.dirty.has(buildId)) await this.#attemptFlush();
    };
    await Promise.race([known(), patience]);
    clearTimeout(timer);
  }

  /** One attempt at a time: who comes meanwhile waits for the same one. */
  #attemptFlush(): Promise<void> {
    this.#flushing ??= this.#attempt().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  async #attempt(): Promise<void> {
    const done = await this.#outbox.attempt(this.#orgId(), this.#state.dirty);
    this.#play("flushed", { ...done, hasMore: this.#storage.hasLettersBesides(done.letters) });
  }

  async #closeLog(buildId: string, fence: number): Promise<void> {
    const name = buildLogName(this.#orgId(), buildId);
    await (this.env.BUILD_LOG as DurableObjectNamespace<BuildLog>).getByName(name).close({ fence });
  }

  /** @throws where a build or agent of one organization comes to the pool of another */
  #own(orgId: string): void {
    const name = this.ctx.id.name;
    if (name !== undefined && name !== poolName(orgId)) throw new Error("This is another organization's pool");
  }

  #orgId(): string {
    return this.#state.orgId ?? this.ctx.id.name ?? "";
  }

  #toBuild({ build, job, report }: BuildRecord): Build {
    return toBuild(this.#orgId(), build, job, report);
  }

  #build(buildId: string): Build {
    return this.#toBuild(this.#storage.record(buildId)!);
  }

  #buildOf(answer: Result<string>): Result<Build> {
    return answer.ok ? { ok: true, value: this.#build(answer.value) } : answer;
  }

  #toAgent(agentId: string): Agent {
    const agent = this.#state.agents.get(agentId)!;
    return toAgent(this.#state, this.#orgId(), agent, Date.now(), this.#sockets.pingedAt(agentId));
  }

  #agentOf(answer: Result<string>): Result<Agent> {
    return answer.ok ? { ok: true, value: this.#toAgent(answer.value) } : answer;
  }

  #grantOf({ buildId, fence, expiresAt }: { buildId: string; fence: number; expiresAt: number }): asked.Grant {
    const found = this.#storage.record(buildId)!;
    const { repoId, pipelineId, pipelineVersion } = found.build;
    const { requires, timeoutSeconds } = found.job;
    const { inputs = null, secretKeys = [] } = this.#storage.inputs(buildId) ?? {};
    return {
      ...{ buildId, fence, leaseExpiresAt: new Date(expiresAt).toISOString(), build: this.#toBuild(found) },
      ...{ repoId, pipelineId, pipelineVersion, requires, timeoutSeconds, inputs, secretKeys },
    };
  }
}

const unknownId = (): Result<never> => ({
  ok: false,
  refusal: { kind: "not-found", detail: "There is nothing with this id here." },
});
