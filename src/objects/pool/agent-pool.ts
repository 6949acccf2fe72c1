import { type Keyring, KeyUnknown, keyIdSql, loadKeyring, SealBroken } from "../../crypto/keyring.ts";
import { inputsContext } from "../../domain/seal-context.ts";
import type { Agent, AgentChange, AgentRun } from "../../protocol/agent.ts";
import type { Metrics, PoolNow } from "../../protocol/metrics.ts";
import { effectiveLimits, type OwnLimits } from "../../protocol/organization.ts";
import type { Role } from "../../protocol/token.ts";
import type * as commands from "../../queue/commands/commands.ts";
import type { Reconciled } from "../../queue/commands/sequence.ts";
import type { PoolNumbers } from "../../queue/state/numbers.ts";
import type { PoolCalls } from "../pool-calls.ts";
import type { ListedDeadLetter } from "./dead-letters.ts";
import { JobMethods } from "./job-methods.ts";
import { Waiting } from "./waiting.ts";

const INPUTS = "json_extract(facts, '$.inputs')";
const KEY_ID = keyIdSql(INPUTS);
const SEALED = `${INPUTS} IS NOT NULL`;

/** Rows per read. */
const PAGE = 50;

/** Counts the stored run values by the id of the key that sealed them. */
const countRunValues = (sql: SqlStorage): Record<string, number> => {
  const rows = sql.exec<{ id: string; count: number }>(
    `SELECT ${KEY_ID} AS id, count(*) AS count FROM inputs WHERE ${SEALED} GROUP BY id`,
  );
  return Object.fromEntries([...rows].map(({ id, count }) => [id, count]));
};

/** Reseals the values of up to `limit` runs under the current key. Keeps and reports runs whose values no key opens. */
const rewrapRunValues = async (
  sql: SqlStorage,
  keyring: Keyring,
  orgId: string,
  limit: number,
): Promise<{ rewrapped: number; unopenable: string[] }> => {
  const unopenable: string[] = [];
  let rewrapped = 0;
  for (let after = 0; rewrapped < limit; ) {
    const rows = sql
      .exec<{ row: number; build_id: string; facts: string }>(
        `SELECT rowid AS row, build_id, facts FROM inputs
         WHERE rowid > ? AND ${SEALED} AND ${KEY_ID} <> ? ORDER BY rowid LIMIT ?`,
        after,
        keyring.current,
        Math.min(PAGE, limit - rewrapped),
      )
      .toArray();
    if (rows.length === 0) break;
    after = rows.at(-1)?.row ?? 0;
    for (const { build_id: buildId, facts } of rows) {
      const row = JSON.parse(facts) as { inputs: string };
      const context = inputsContext(orgId, buildId);
      try {
        const inputs = await keyring.seal(await keyring.open(row.inputs, context), context);
        const next = JSON.stringify({ ...row, inputs });
        sql.exec("UPDATE inputs SET facts = ? WHERE build_id = ? AND facts = ?", next, buildId, facts);
        rewrapped += 1;
      } catch (error) {
        if (!(error instanceof KeyUnknown || error instanceof SealBroken)) throw error;
        unopenable.push(buildId);
      }
    }
  }
  return { rewrapped, unopenable };
};

type Result<T> = commands.Result<T>;

/** The agents and active builds of one organization. */
export class AgentPool extends JobMethods implements PoolCalls {
  readonly #waiting = new Waiting(this.engine);

  /** Counts the stored run values by the id of the key that sealed them. */
  async sealedInputs(): Promise<Record<string, number>> {
    return countRunValues(this.ctx.storage.sql);
  }

  async rewrapInputs(orgId: string, limit: number): Promise<{ rewrapped: number; unopenable: string[] }> {
    return rewrapRunValues(this.ctx.storage.sql, loadKeyring(this.env.SECRETS_KEYS), orgId, limit);
  }

  /** Returns counts for dashboards and autoscaling. Counts a large pool at most every five seconds. */
  async metrics(): Promise<Metrics> {
    return this.records.metrics();
  }

  /** Counts active builds, for the header of every page. */
  async now(role: Role): Promise<PoolNow> {
    return this.records.now(role);
  }

  /** Lists what these agents run now and what they ran within the last hour, for the pages about the fleet. */
  async runs(agentIds: string[]): Promise<AgentRun[]> {
    return this.records.runs(agentIds);
  }

  /** Creates the object if it does not exist yet. */
  async touch(): Promise<void> {}

  /** Applies the operator's new limits. If this call is lost, the object reads the limits when it next wakes up. */
  async limitsChanged(own: OwnLimits): Promise<void> {
    this.engine.limits = effectiveLimits(own);
  }

  async registerAgent(agent: commands.NewAgent): Promise<Result<Agent>> {
    this.checkOrganization(agent.orgId);
    return this.records.toAgentAnswer(this.engine.step("registerAgent", agent));
  }

  /** Lists agents in the order of their ids. Pages stay correct while agents are added and removed. */
  async listAgents(after = "", limit = Number.POSITIVE_INFINITY, name?: string): Promise<Agent[]> {
    return this.records.agents(after, limit, name);
  }

  async getAgent(agentId: string): Promise<Result<Agent>> {
    return this.records.findAgent(agentId);
  }

  async updateAgent(agentId: string, change: AgentChange, actor: commands.Actor): Promise<Result<Agent>> {
    return this.records.toAgentAnswer(this.engine.step("updateAgent", { agentId, change, actor }));
  }

  async removeAgent(agentId: string, actor: commands.Actor): Promise<Result<null>> {
    const answer = this.engine.step("removeAgent", { agentId, actor });
    if (answer.ok) this.engine.sockets.closeAll(agentId);
    return answer;
  }

  /**
   * Removes some of the agents that a revoked token registered. `left` counts the agents that another call has to
   * remove.
   */
  async removeAgentsOf(request: {
    tokenId: string;
    /** Whether the token was valid until now. In that case, a registration with this token may still arrive. */
    wasThere: boolean;
    actor: commands.Actor;
  }): Promise<Result<{ removed: number; left: number }>> {
    const answer = this.engine.step("removeAgentsOf", request);
    if (!answer.ok) return answer;
    const { removed, left } = answer.value;
    for (const agentId of removed) this.engine.sockets.closeAll(agentId);
    return { ok: true, value: { removed: removed.length, left } };
  }

  /** Finds the agent that a token belongs to. Only the pool knows whether an agent's token is valid. */
  async authenticateAgent(tokenHash: string): Promise<Result<{ agentId: string }>> {
    return this.engine.step("authenticateAgent", { tokenHash });
  }

  /** Ends what is overdue, and deletes what is too old. */
  async sweep(): Promise<PoolNumbers> {
    this.engine.sweep();
    this.engine.scheduleAll();
    return this.engine.numbers();
  }

  /** Makes one attempt on each channel that has something to deliver. */
  async flush(): Promise<void> {
    await this.engine.courier.deliverAll();
  }

  /**
   * Lists the items after `after` that the pool could not deliver or read. The list has the order in which the pool
   * set them aside.
   */
  async deadLetters(after: number, limit: number): Promise<ListedDeadLetter[]> {
    return this.engine.storage.deadLetters.list(after, limit);
  }

  /** Retries dead letters. @returns how many the pool sends again */
  async retryDeadLetters(seqs: number[]): Promise<number> {
    return this.engine.retryDeadLetters(seqs);
  }

  /** Stops answering calls, because the organization is being deleted. Callers can repeat the call. */
  async close(): Promise<void> {
    this.engine.close();
  }

  /** Forgets builds whose logs are purged. @returns at most `limit` ids of other builds that the pool knows */
  async forgetBuilds(ids: string[], limit: number): Promise<string[]> {
    return this.engine.removal.forgetBuilds(ids, limit);
  }

  /** Deletes everything that this object holds. Requires `close` first. */
  async destroy(): Promise<void> {
    await this.engine.destroy();
  }

  /** Adopts D1's facts about these builds, which are active in D1. */
  async reconcile(buildIds: string[]): Promise<Result<Reconciled>> {
    return this.engine.reconciler.reconcile(buildIds);
  }

  /** Reconciles after an operator restored D1, or the pools, to an earlier time. */
  async restored(what: "database" | "pools"): Promise<Result<Reconciled>> {
    const done = await this.engine.reconciler.restored(what);
    await this.engine.courier.tell("lists");
    return done;
  }

  /** Restores this pool to a time (milliseconds since 1970) at its next start. @returns how to undo the restore */
  async restoreTo(at: number): Promise<string> {
    const bookmark = await this.ctx.storage.getBookmarkForTime(at);
    return this.ctx.storage.onNextSessionRestoreBookmark(bookmark);
  }

  /** Restarts at the next call, once D1 has received what the pool sent. @throws always: no caller gets an answer */
  async restart(): Promise<void> {
    await this.engine.courier.settled();
    this.ctx.abort("The operator restores this pool to an earlier time");
  }

  /** Remembers that tokens, and hashes of their replaced secrets, are no longer valid. */
  async revoke(names: string[]): Promise<Result<null>> {
    return this.engine.step("revoke", { names });
  }

  /** Opens a socket for an agent, or for a Worker in a long poll until a deadline. Both wait for hints on it. */
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
    await this.engine.onAlarm(info?.isRetry ?? false);
  }
}
