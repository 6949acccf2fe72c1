import { createExecutionContext, runInDurableObject, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { buildLogName, poolName } from "../../src/domain/durable-objects.ts";
import type { BuildLog } from "../../src/objects/log/build-log.ts";
import type { AgentPool } from "../../src/objects/pool/agent-pool.ts";
import worker from "../../src/worker.ts";
import { type Answer, isJsonText } from "./api.ts";

/** Rate limits are off: a test sends as much in a second as a caller in minutes. */
const UNLIMITED: RateLimit = { limit: async () => ({ success: true }) };

/** Creates a `call` of the service as if deployed with other secrets or bindings: same code, database and objects. */
export const callDeployedWith = (change: Partial<Env>) => {
  const off = { TOKEN_RATE: UNLIMITED, AGENT_RATE: UNLIMITED, ORGANIZATION_RATE: UNLIMITED };
  const deployed = { ...env, ...off, ...change } as Env;
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
      method,
      headers,
      body: body ? JSON.stringify(body) : undefined,
    });
    const response = await worker.fetch(request as Parameters<typeof worker.fetch>[0], deployed, ctx);
    const text = await response.text();
    await waitOnExecutionContext(ctx);
    const isJson = isJsonText(response.headers.get("Content-Type")) && text !== "";
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text, text };
  };
};

/** Gives a running object other secrets or bindings, like a deploy. */
export const redeploy = (stub: DurableObjectStub<AgentPool> | DurableObjectStub<BuildLog>, change: Partial<Env>) =>
  runInDurableObject(stub as unknown as DurableObjectStub, (object) => {
    const { env: before } = object as unknown as { env: Env };
    Object.assign(object, { env: { ...before, ...change } });
  });

export const poolStub = (orgId: string) => env.AGENT_POOL.getByName(poolName(orgId));
export const logStub = (orgId: string, buildId: string) => env.BUILD_LOG.getByName(buildLogName(orgId, buildId));

/** Wraps the database with a function that runs before each batch, where a test can simulate simultaneous events. */
export const databaseWithHook = (before: (statements: number) => Promise<void>): D1Database => {
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
