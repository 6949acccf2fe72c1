import type { Context as HonoContext } from "hono";
import { readConfig } from "../config.ts";
import { type Context, newContext, type Opening } from "../services/core/context.ts";
import type { AppEnv } from "./app-env.ts";

/** Opens the context of a request. The service knows the caller, but has not yet admitted it. */
export const openContext = (
  c: HonoContext<AppEnv>,
  opening: Pick<Opening, "caller" | "access" | "writes" | "bookmark" | "headers">,
): Context => {
  const context = newContext({
    ...opening,
    env: c.env,
    config: readConfig(c.env),
    requestId: c.get("requestId"),
    now: new Date(),
    origin: new URL(c.req.url).origin,
    waitUntil: (work) => c.executionCtx.waitUntil(work),
  });
  c.set("context", context);
  return context;
};
