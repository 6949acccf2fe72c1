import type { Context as HonoContext } from "hono";
import type * as z from "zod/mini";
import type { Access } from "../services/core/access.ts";
import type { Context } from "../services/core/context.ts";
import type { VerbInput } from "../services/core/verb.ts";

/** Hono's environment: the Worker's bindings, and one request's variables. */
export type AppEnv = { Bindings: Env; Variables: { context: Context; requestId: string } };

/** A verb whose request or answer is not a single JSON value. */
export interface StreamRoute {
  access: Access;
  params?: z.ZodMiniType;
  query?: z.ZodMiniType;
  body?: undefined;
  mayLackBody?: undefined;
  bodyBytes?: undefined;
  output?: z.ZodMiniType;
  // biome-ignore lint/suspicious/noExplicitAny: checked by the schemas beside it
  stream(c: HonoContext<AppEnv>, context: Context, input: VerbInput<any, any, undefined>): Promise<Response>;
}
