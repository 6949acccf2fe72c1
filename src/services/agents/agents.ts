import { sql } from "drizzle-orm";
import * as z from "zod/mini";
import { hashToken } from "../../crypto/token.ts";
import { diff } from "../../domain/diff.ts";
import {
  Agent,
  AgentChange,
  AgentFilter,
  AgentRegistration,
  type AgentRun,
  OwnAgentChange,
  RegisteredAgent,
  type RegisteredBy,
} from "../../protocol/agent.ts";
import { PathId } from "../../protocol/common.ts";
import { Metrics, type PoolNow } from "../../protocol/metrics.ts";
import { toPrometheus } from "../../queue/metrics/prometheus.ts";
import { actorOf, type Context } from "../core/context.ts";
import { toPage } from "../core/listing.ts";
import { invalid, Refusal, settled } from "../core/refusal.ts";
import { makeUpdateSchema, verb, writablePart } from "../core/verb.ts";

/** Checks that an agent calls only its own paths. @throws Refusal forbidden, or unauthenticated for an invalid token */
export const checkOwnPath = async (context: Context, id: string): Promise<{ isOwn: boolean }> => {
  const { agentId } = await context.admit();
  if (agentId !== null && agentId !== id) throw new Refusal("forbidden", "An agent may call only its own path.");
  return { isOwn: agentId !== null };
};

export const registerAgent = verb({
  access: { role: "maintainer", registration: true },
  body: AgentRegistration,
  output: RegisteredAgent,
  async run(context, { body }) {
    const { labels: grantable, token } = await context.admit();
    const registeredBy: RegisteredBy | null = token && { tokenId: token.id, kind: token.kind, name: token.name };
    const labels = [...new Set(body.labels ?? [])];
    if (grantable && labels.some((label) => !grantable.includes(label))) {
      throw invalid("/labels", "has a label that this registration token may not grant");
    }
    const secret = await context.keys.mint.mint("mra", context.orgId);
    const { name, platform, canBuildIOS, canBuildAndroid, canBuildWeb } = body;
    const agent = settled(
      await (await context.pool()).registerAgent({
        id: context.newId(),
        orgId: context.orgId,
        tokenHash: await hashToken(secret),
        actor: actorOf(context),
        name,
        platform,
        canBuildIOS,
        canBuildAndroid,
        canBuildWeb,
        labels,
        registeredBy,
        version: body.version ?? null,
        isEphemeral: body.isEphemeral ?? false,
      }),
    );
    const { HEARTBEAT_SECONDS: heartbeatSeconds, POLL_SECONDS: pollSeconds } = context.config;
    return { ...agent, token: secret, heartbeatSeconds, pollSeconds };
  },
});

export const listAgents = verb({
  access: { role: "viewer" },
  query: AgentFilter,
  output: z.array(Agent),
  async run(context, { query }) {
    const { cursor, limit, name } = query;
    const atMost = limit === undefined ? undefined : limit + 1;
    const agents = await (await context.pool()).listAgents(cursor, atMost, name || undefined);
    return toPage(agents, query, (agent) => agent);
  },
});

export const getAgent = verb({
  access: { role: "viewer", agent: true },
  params: PathId,
  output: Agent,
  async run(context, { params }) {
    await checkOwnPath(context, params.id);
    return settled(await (await context.pool()).getAgent(params.id));
  },
});

/**
 * Checks that an agent's own token changes only the fields that it may change. An agent cannot give itself a label, for
 * example.
 * @throws Refusal forbidden
 */
const checkOwnChange = (change: AgentChange, agent: Agent): void => {
  const others = Object.keys(diff<AgentChange>(agent, change)).filter((field) => !(field in OwnAgentChange.shape));
  if (others.length === 0) return;
  throw new Refusal(
    "forbidden",
    `An agent's own token may change only the agent's name and version. Changing ${others.join(", ")} requires a token with role maintainer.`,
  );
};

export const updateAgent = verb({
  access: { role: "maintainer", agent: true },
  params: PathId,
  body: makeUpdateSchema(Agent, AgentChange),
  output: Agent,
  async run(context, { params, body }) {
    const { isOwn } = await checkOwnPath(context, params.id);
    const pool = await context.pool();
    const agent = settled(await pool.getAgent(params.id));
    const change = writablePart(body, AgentChange, agent);
    if (isOwn) checkOwnChange(change, agent);
    return settled(await pool.updateAgent(params.id, change, actorOf(context)));
  },
});

export const deleteAgent = verb({
  access: { role: "maintainer", agent: true },
  params: PathId,
  async run(context, { params }) {
    await checkOwnPath(context, params.id);
    settled(await (await context.pool()).removeAgent(params.id, actorOf(context)));
  },
});

/** The maximum number of names in one answer from D1. D1 reads four rows for each name. */
const NAMED = 60;

/** Returns these agents' runs in the last hour. */
export const agentRuns = async (context: Context, agentIds: string[]): Promise<AgentRun[]> => {
  return agentIds.length === 0 ? [] : (await context.pool()).runs(agentIds);
};

/**
 * Returns the names of the pipelines that built last, such as `acme/shop / ci`, by id. The query does not depend on the
 * agents' runs.
 */
export const pipelinesOfLate = async ({ db, orgId }: Context): Promise<Map<string, string>> => {
  const [{ results }] = await db.run(
    db.statement<{ id: string; name: string }>(sql`SELECT p.id, r.full_name || ' / ' || p.name AS name
      FROM pipeline_history h CROSS JOIN pipeline p ON p.id = h.pipeline_id AND p.org_id = h.org_id
      JOIN repository r ON r.id = p.repo_id
      WHERE h.org_id = ${orgId} AND h.newest > '' ORDER BY h.newest DESC LIMIT ${NAMED}`),
  );
  return new Map(results.map(({ id, name }) => [id, name]));
};

export const jsonMetrics = verb({
  access: { role: "viewer" },
  output: Metrics,
  run: async (context) => (await context.pool()).metrics(),
});

/** Returns the metrics as text for Prometheus. */
export const prometheusText = async (context: Context): Promise<string> =>
  toPrometheus(await (await context.pool()).metrics());

/** Milliseconds that a page waits at most for a count that it shows beside its content. */
const PATIENCE_MS = 500;

const ask = async (context: Context): Promise<PoolNow | null> => {
  const pool = await context.pool();
  const { role } = context.admitted;
  return role && pool.now(role);
};

/**
 * Returns the numbers of running and waiting jobs. Returns null if the pool does not answer or the caller is not
 * admitted, because no page may fail because of these numbers.
 */
export const poolNow = async (context: Context): Promise<PoolNow | null> => {
  const patience = new Promise<null>((resolve) => setTimeout(() => resolve(null), PATIENCE_MS));
  return Promise.race([ask(context).catch(() => null), patience]);
};
