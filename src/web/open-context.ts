import type { Context as HonoContext } from "hono";
import { readConfig } from "../config.ts";
import type { Access, Caller } from "../services/core/access.ts";
import { Context } from "../services/core/context.ts";
import type { AppEnv } from "./app-env.ts";

interface Opening {
  caller: Caller;
  access: Access;
  /** Reads go to the primary where the request writes, else where the client last saw its writes. */
  writes: boolean;
  bookmark: string | null;
  bootId?: string | null;
}

/** Opens the request: who calls is known, but not yet admitted. */
export const openContext = (c: HonoContext<AppEnv>, { bootId = null, ...opening }: Opening): Context => {
  const context = new Context({
    ...{ env: c.env, config: readConfig(c.env), now: new Date(), requestId: c.get("requestId"), bootId },
    origin: new URL(c.req.url).origin,
    ...opening,
    later: (work) => c.executionCtx.waitUntil(work),
  });
  c.set("context", context);
  return context;
};
