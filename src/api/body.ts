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

/** Agents cut texts where they must, in the midst of a character too: theirs can be mended. */
const parse = (text: string, isMended: boolean): unknown => {
  try {
    return JSON.parse(text, (key, value) => {
      if (key === "__proto__") throw invalid("", "has a field with a name that is not allowed");
      return isMended && typeof value === "string" ? value.toWellFormed() : value;
    });
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal("malformed-body", "The body is not JSON.");
  }
};

/** Leaves the body as text that is JSON for the validator behind it. @throws Refusal for every other body */
export const jsonBody: MiddlewareHandler<AppEnv> = async (c, next) => {
  const type = c.req.header("Content-Type") ?? "";
  if (!/^application\/([a-z0-9.-]+\+)?json(;|$)/i.test(type)) {
    throw new Refusal("unsupported-media-type", "Send the body as application/json.");
  }
  const text = decode(await readBytes(c.req.raw, LIMITS.bodyBytes));
  if (text.trim() === "") throw new Refusal("malformed-body", "The body is empty.");
  const isMended = c.get("context").caller.kind === "agent";
  const value = parse(text, isMended);
  c.req.bodyCache.text = Promise.resolve(isMended ? JSON.stringify(value) : text) as unknown as string;
  await next();
};
