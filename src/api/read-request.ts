import { zValidator } from "@hono/zod-validator";
import type { Context as HonoContext, HonoRequest, MiddlewareHandler } from "hono";
import type * as z from "zod/mini";
import { GRANT_HEADER } from "../protocol/artifact.ts";
import { BOOKMARK, BOOKMARK_HEADER } from "../protocol/headers.ts";
import { BOOT_HEADER, FEATURES_HEADER, featuresIn, LEASE_HEADER } from "../protocol/jobs.ts";
import { LIMITS } from "../protocol/limits.ts";
import { XCODES_HEADER, xcodesIn } from "../protocol/xcodes.ts";
import type { RequestHeaders } from "../services/core/context.ts";
import { accepted } from "../services/core/invalid-input.ts";
import { invalid, notFound, Refusal } from "../services/core/refusal.ts";
import type { AppEnv } from "../web/app-env.ts";
import { readBytes } from "../web/body.ts";
import { entityTags } from "../web/headers.ts";

interface HeaderForm {
  name: string;
  pattern: RegExp;
  problem: string;
}

const IDEMPOTENCY_KEY: HeaderForm = {
  name: "Idempotency-Key",
  pattern: /^[\x21-\x7e]{1,200}$/,
  problem: "must be 1 to 200 visible characters",
};
const LEASE: HeaderForm = { name: LEASE_HEADER, pattern: /^\d{1,16}$/, problem: "must be the number of a lease" };
const BOOKMARK_FORM: HeaderForm = {
  name: BOOKMARK_HEADER,
  pattern: BOOKMARK,
  problem: "must be one that an earlier answer gave",
};
const BOOT_ID_LIMIT = 100;

const isMalformed = (request: HonoRequest, { name, pattern }: HeaderForm): boolean => {
  const text = request.header(name);
  return text !== undefined && !pattern.test(text);
};

const wellFormed = (request: HonoRequest, form: HeaderForm): string | null =>
  isMalformed(request, form) ? null : (request.header(form.name) ?? null);

/** Reads the request's headers. A malformed header counts as absent here, because `checkHeaders` rejects it. */
export const requestHeaders = (request: HonoRequest): RequestHeaders => {
  const lease = wellFormed(request, LEASE);
  return {
    ifMatch: entityTags(request.header("If-Match")),
    idempotencyKey: wellFormed(request, IDEMPOTENCY_KEY),
    lease: lease === null ? null : Number(lease),
    bootId: request.header(BOOT_HEADER)?.slice(0, BOOT_ID_LIMIT) ?? null,
    features: featuresIn(request.header(FEATURES_HEADER) ?? null),
    xcodes: xcodesIn(request.header(XCODES_HEADER) ?? null),
    grant: request.header(GRANT_HEADER) ?? null,
  };
};

/** Returns the bookmark for the request's reads, or null. */
export const readBookmark = (request: HonoRequest): string | null => wellFormed(request, BOOKMARK_FORM);

/** @throws Refusal invalid, naming the malformed header */
export const checkHeaders = (request: HonoRequest): void => {
  for (const form of [IDEMPOTENCY_KEY, LEASE, BOOKMARK_FORM]) {
    if (isMalformed(request, form)) throw invalid(form.name, form.problem);
  }
};

const decode = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw new Refusal("malformed-body", "The body is not UTF-8.");
  }
};

/**
 * Parses JSON. An agent may cut a text inside a surrogate pair. With `repairsTexts`, the parser replaces the broken
 * half instead of rejecting the text. UTF-8 has no halves, so only a text with `\\u` can have one, or can disguise a
 * field's name. Checking each value takes longer than parsing, so other texts skip the check.
 */
const parse = (text: string, repairsTexts: boolean): unknown => {
  const isPlain = !text.includes("\\u") && !text.includes("__proto__");
  const checkValue = (key: string, value: unknown): unknown => {
    if (key === "__proto__") throw invalid("", "has a field with a name that is not allowed");
    return repairsTexts && typeof value === "string" ? value.toWellFormed() : value;
  };
  try {
    return JSON.parse(text, isPlain ? undefined : checkValue);
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

/** Reads the body as JSON, for `bodyValidator`. If the body is optional and absent, returns `{}`. @throws Refusal */
export const jsonBody =
  (mayBeAbsent: boolean, limit: number = LIMITS.bodyBytes): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    c.req.addValidatedData("json", (await read(c, mayBeAbsent, limit)) as object);
    await next();
  };

/** Checks the path or the query. @throws Refusal not-found if a parameter of the path cannot name a record */
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
