import type { MiddlewareHandler } from "hono";
import { v7 as uuid } from "uuid";
import type { AppEnv } from "./app-env.ts";

/** Gives each request an id, and its answer the header X-Request-Id. */
export const requestId: MiddlewareHandler<AppEnv> = async (c, next) => {
  c.set("requestId", uuid());
  await next();
  c.header("X-Request-Id", c.get("requestId"));
  c.header("X-Content-Type-Options", "nosniff");
};
