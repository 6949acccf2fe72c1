import type { Context as HonoContext, MiddlewareHandler } from "hono";
import { v7 as uuid } from "uuid";
import type * as z from "zod/mini";
import { readConfig } from "../config.ts";
import type { Access, Caller } from "../services/access.ts";
import { Context } from "../services/context.ts";
import type { Input } from "../services/verb.ts";

/** What every request carries through the router. */
export type Kit = { Bindings: Env; Variables: { context: Context; requestId: string } };

/** Gives each request an id, which its answer tells. */
export const numbered: MiddlewareHandler<Kit> = async (c, next) => {
  c.set("requestId", uuid());
  await next();
  c.header("X-Request-Id", c.get("requestId"));
  c.header("X-Content-Type-Options", "nosniff");
};

/** A route whose request or answer is not one JSON value. */
export interface StreamRoute {
  access: Access;
  params?: z.ZodMiniType;
  query?: z.ZodMiniType;
  body?: undefined;
  output?: z.ZodMiniType;
  // biome-ignore lint/suspicious/noExplicitAny: checked by the schemas beside it
  stream(c: HonoContext<Kit>, context: Context, input: Input<any, any, undefined>): Promise<Response>;
}

interface Opening {
  caller: Caller;
  access: Access;
  /** Reads go to the primary where the request writes, else where the client last saw its writes. */
  writes: boolean;
  bookmark: string | null;
  bootId?: string | null;
}

/** Opens the request: who calls is known, but not yet admitted. */
export const openContext = (c: HonoContext<Kit>, { bootId = null, ...opening }: Opening): Context => {
  const context = new Context({
    ...{ env: c.env, config: readConfig(c.env), now: new Date(), requestId: c.get("requestId"), bootId },
    origin: new URL(c.req.url).origin,
    ...opening,
    later: (work) => c.executionCtx.waitUntil(work),
  });
  c.set("context", context);
  return context;
};
