import type { Context as HonoContext, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { v7 as uuid } from "uuid";
import { log } from "../log.ts";
import type { Context } from "../services/core/context.ts";
import type { AppEnv } from "./app-env.ts";

/*
 * These set their headers on the answer itself. Hono's `c.header` makes a new answer for each header after the handler,
 * whose body is then a stream. An answer of the platform, such as that of an object, takes no headers: its route copies it.
 */

/** Gives each request an id, and its answer the header X-Request-Id. */
export const requestId: MiddlewareHandler<AppEnv> = async (c, next) => {
  c.set("requestId", uuid());
  await next();
  c.res.headers.set("X-Request-Id", c.get("requestId"));
  c.res.headers.set("X-Content-Type-Options", "nosniff");
};

/** The pattern of the route, never the path: a path may hold anything, a secret too. */
const findPattern = (c: HonoContext<AppEnv>): string | null =>
  matchedRoutes(c).find(({ path }) => !path.endsWith("*"))?.path ?? null;

/** Of the calls of agents that were not refused, one in so many is logged: the platform charges each line. */
const SAMPLED = 100;
let agentCalls = 0;

/** How many requests the line of this one stands for; null where it has none. */
const countLine = (context: Context | undefined, status: number): number | null => {
  if (context?.caller.kind !== "agent" || status >= 400) return 1;
  agentCalls += 1;
  return agentCalls % SAMPLED === 0 ? SAMPLED : null;
};

/** Logs requests as one line of JSON each. Adds the cost as `Server-Timing`, unless the request was refused. */
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
