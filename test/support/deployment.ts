import { createExecutionContext, runInDurableObject, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { buildLogName, poolName } from "../../src/domain/object-names.ts";
import type { AgentPool } from "../../src/objects/agent-pool.ts";
import type { BuildLog } from "../../src/objects/build-log.ts";
import worker from "../../src/worker.ts";
import type { Answer } from "./api.ts";

/** A test sends in a second what a caller sends in minutes. */
const WIDE: RateLimit = { limit: async () => ({ success: true }) };

/** The service as it is deployed with other secrets or bindings: same code, same database, same objects. */
export const deployedWith = (change: Partial<Env>) => {
  const deployed = { ...env, TOKEN_RATE: WIDE, AGENT_RATE: WIDE, ...change } as Env;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at answers of every shape
  return async <T = any>(
    token: string,
    method: string,
    path: string,
    body?: unknown,
    more: Record<string, string> = {},
  ): Promise<Answer<T>> => {
    const ctx = createExecutionContext();
    const headers = new Headers(more);
    if (token) headers.set("Authorization", `Bearer ${token}`);
    if (body) headers.set("Content-Type", "application/json");
    const request = new Request(`https://millrace.test${path}`, {
      ...{ method, headers, body: body ? JSON.stringify(body) : undefined },
    });
    const response = await worker.fetch(request as Parameters<typeof worker.fetch>[0], deployed, ctx);
    const text = await response.text();
    await waitOnExecutionContext(ctx);
    const isJson = response.headers.get("Content-Type")?.includes("json") && text !== "";
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text, text };
  };
};

/** Lets an object run with other secrets, as it would after a deploy. */
export const redeploy = (stub: DurableObjectStub<AgentPool> | DurableObjectStub<BuildLog>, change: Partial<Env>) =>
  runInDurableObject(stub as unknown as DurableObjectStub, (object) => {
    const { env: before } = object as unknown as { env: Env };
    Object.assign(object, { env: { ...before, ...change } });
  });

export const poolStub = (orgId: string) => env.AGENT_POOL.getByName(poolName(orgId));
export const logStub = (orgId: string, buildId: string) => env.BUILD_LOG.getByName(buildLogName(orgId, buildId));

/** D1 that tells of each batch before it is sent: the moment at which others may come between. */
export const watchedDatabase = (before: (statements: number) => Promise<void>): D1Database => {
  const session = (constraint?: string): D1DatabaseSession => {
    const real = env.DB.withSession(constraint);
    return {
      prepare: (query: string) => real.prepare(query),
      getBookmark: () => real.getBookmark(),
      batch: async (statements: D1PreparedStatement[]) => {
        await before(statements.length);
        return real.batch(statements);
      },
    } as D1DatabaseSession;
  };
  return { withSession: session, prepare: (query: string) => env.DB.prepare(query) } as D1Database;
};
