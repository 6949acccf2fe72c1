import { zValidator } from "@hono/zod-validator";
import type * as z from "zod/mini";
import { accepted } from "../services/core/invalid-input.ts";
import { notFound } from "../services/core/refusal.ts";

/** Checks one part of a request. A path that can name nothing is a path to nothing. */
export const validator = (target: "param" | "query" | "json", schema: z.ZodMiniType) =>
  zValidator(target, schema as z.ZodMiniObject, (result) => {
    if (target !== "param") accepted(result, schema);
    else if (!result.success) throw notFound();
  });
