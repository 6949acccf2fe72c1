import type { Context as HonoContext, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { v7 as uuid } from "uuid";
import { log } from "../log.ts";
import type { Context } from "../services/core/context.ts";
import type { AppEnv } from "./app-env.ts";

/*
 * The middleware here sets headers on the answer itself. After the handler, Hono's `c.header` creates a new answer for
 * each header, and the new answer's body is a stream. The platform's answers, such as an object's, accept no headers,
 * so their routes copy them.
 */

/** Gives each request an id, and its answer the header X-Request-Id. */
export const requestId: MiddlewareHandler<AppEnv> = async (c, next) => {
  c.set("requestId", uuid());
  await next();
  c.res.headers.set("X-Request-Id", c.get("requestId"));
  c.res.headers.set("X-Content-Type-Options", "nosniff");
};

/** Returns the route's pattern, never the path, because a path may contain anything, even a secret. */
const findPattern = (c: HonoContext<AppEnv>): string | null =>
  matchedRoutes(c).find(({ path }) => !path.endsWith("*"))?.path ?? null;

/** The log gets one in this many accepted calls of agents, because the platform charges for each line. */
const SAMPLED = 100;
let agentCalls = 0;

/** Returns how many requests this request's line represents; null if the request has no line. */
const countLine = (context: Context | undefined, status: number): number | null => {
  if (context?.caller.kind !== "agent" || status >= 400) return 1;
  agentCalls += 1;
  return agentCalls % SAMPLED === 0 ? SAMPLED : null;
};

/** Logs each request as one line of JSON. Adds the cost as `Server-Timing`, unless the request was rejected. */
export const requestLog: MiddlewareHandler<AppEnv> = async (c, next) => {
  const begun = Date.now();
  await next();
  const context: Context | undefined = c.get("context");
  const { rounds, rowsRead, rowsWritten } = context?.db.tally ?? { rounds: 0, rowsRead: 0, rowsWritten: 0 };
  const ms = Date.now() - begun;
  const { status } = c.res;
  if (status < 400) {
    const d1 = `rounds=${rounds} read=${rowsRead} written=${rowsWritten}`;
    c.res.headers.set("Server-Timing", `total;dur=${ms}, d1;desc="${d1}"`);
  }
  const weight = countLine(context, status);
  if (weight === null) return;
  const request = { requestId: c.get("requestId"), method: c.req.method, route: findPattern(c) };
  const caller = { orgId: context?.orgId ?? null, caller: context?.actor ?? null };
  log.info("request.answered", { ...request, status, ms, ...caller, rounds, rowsRead, rowsWritten, weight });
};
