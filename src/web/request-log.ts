import type { Context as HonoContext, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import type { AppEnv } from "./app-env.ts";

/** The pattern of the route, never the path: a path may hold anything, a secret too. */
const patternOf = (c: HonoContext<AppEnv>): string | null =>
  matchedRoutes(c).find(({ path }) => !path.endsWith("*"))?.path ?? null;

/** Logs each request as one line of JSON. Adds its cost as `Server-Timing`, unless it was refused. */
export const requestLog: MiddlewareHandler<AppEnv> = async (c, next) => {
  const begun = Date.now();
  await next();
  const context = c.get("context");
  const { rounds, rowsRead, rowsWritten } = context?.db.tally ?? { rounds: 0, rowsRead: 0, rowsWritten: 0 };
  const ms = Date.now() - begun;
  const { status } = c.res;
  if (status < 400) {
    c.header("Server-Timing", `total;dur=${ms}, d1;desc="rounds=${rounds} read=${rowsRead} written=${rowsWritten}"`);
  }
  const request = { requestId: c.get("requestId"), method: c.req.method, route: patternOf(c) };
  const caller = { orgId: context?.orgId || null, caller: context?.actor ?? null };
  const line = { ...request, status, ms, ...caller, rounds, rowsRead, rowsWritten };
  console.log(JSON.stringify(line));
};
