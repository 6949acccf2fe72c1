import type { MiddlewareHandler } from "hono";
import { LIMITS } from "../protocol/limits.ts";
import { invalid, Refusal } from "../services/core/refusal.ts";
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

/** Reads the body as JSON, for `bodyValidator`. @throws Refusal where it is not JSON */
export const jsonBody: MiddlewareHandler<AppEnv> = async (c, next) => {
  const type = c.req.header("Content-Type") ?? "";
  if (!/^application\/([a-z0-9.-]+\+)?json(;|$)/i.test(type)) {
    throw new Refusal("unsupported-media-type", "Send the body as application/json.");
  }
  const text = decode(await readBytes(c.req.raw, LIMITS.bodyBytes));
  if (text.trim() === "") throw new Refusal("malformed-body", "The body is empty.");
  const value = parse(text, c.get("context").caller.kind === "agent");
  c.req.addValidatedData("json", value as object);
  await next();
};
