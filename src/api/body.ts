import { zValidator } from "@hono/zod-validator";
import type { Context as HonoContext, MiddlewareHandler } from "hono";
import type * as z from "zod/mini";
import { LIMITS } from "../protocol/limits.ts";
import { accepted } from "../services/core/invalid-input.ts";
import { invalid, notFound, Refusal } from "../services/core/refusal.ts";
import type { AppEnv } from "../web/app-env.ts";
import { readBytes } from "../web/body.ts";

const decode = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw new Refusal("malformed-body", "The body is not UTF-8.");
  }
};

/** An agent may cut a text inside a surrogate pair; `repairsTexts` replaces the broken half instead of refusing it. */
const parse = (text: string, repairsTexts: boolean): unknown => {
  try {
    return JSON.parse(text, (key, value) => {
      if (key === "__proto__") throw invalid("", "has a field with a name that is not allowed");
      return repairsTexts && typeof value === "string" ? value.toWellFormed() : value;
    });
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal("malformed-body", "The body is not JSON.");
  }
};

const read = async (c: HonoContext<AppEnv>, mayBeAbsent: boolean, limit: number): Promise<unknown> => {
  const type = c.req.header("Content-Type") ?? "";
  const isJson = /^application\/([a-z0-9.-]+\+)?json(;|$)/i.test(type);
  if (!isJson && !mayBeAbsent) throw new Refusal("unsupported-media-type", "Send the body as application/json.");
  const text = decode(await readBytes(c.req.raw, limit));
  if (text.trim() === "" && mayBeAbsent) return {};
  if (!isJson) throw new Refusal("unsupported-media-type", "Send the body as application/json.");
  if (text.trim() === "") throw new Refusal("malformed-body", "The body is empty.");
  return parse(text, c.get("context").caller.kind === "agent");
};

/** Reads the body as JSON, for `bodyValidator`; where it may be absent, an absent one is `{}`. @throws Refusal */
export const jsonBody =
  (mayBeAbsent: boolean, limit: number = LIMITS.bodyBytes): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    c.req.addValidatedData("json", (await read(c, mayBeAbsent, limit)) as object);
    await next();
  };

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
