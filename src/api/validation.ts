import { zValidator } from "@hono/zod-validator";
import type { MiddlewareHandler } from "hono";
import type * as z from "zod/mini";
import { accepted } from "../services/core/invalid-input.ts";
import { notFound } from "../services/core/refusal.ts";

/** Checks the path or the query. @throws Refusal not-found where a parameter of the path cannot name a record */
export const validator = (target: "param" | "query", schema: z.ZodMiniType) =>
  zValidator(target, schema as z.ZodMiniObject, (result) => {
    if (target === "query") accepted(result, schema);
    else if (!result.success) throw notFound();
  });

/** Checks the body that `jsonBody` read. @throws Refusal invalid */
export const bodyValidator =
  (schema: z.ZodMiniType): MiddlewareHandler =>
  async (c, next) => {
    const result = schema.safeParse(c.req.valid("json" as never));
    c.req.addValidatedData("json", accepted(result, schema) as object);
    await next();
  };
