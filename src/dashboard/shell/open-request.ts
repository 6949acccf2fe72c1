import type { Context as HonoContext } from "hono";
import { LIMITS } from "../../protocol/limits.ts";
import type { Access } from "../../services/core/access.ts";
import type { Context } from "../../services/core/context.ts";
import { checkRate } from "../../services/core/rate-limit.ts";
import type { AppEnv } from "../../web/app-env.ts";
import { readBytes } from "../../web/body.ts";
import { openContext } from "../../web/open-context.ts";
import { lastBookmark, sessionCaller } from "./cookies.ts";
import type { PageRequest } from "./page-definition.ts";

export type HonoCall = HonoContext<AppEnv>;

/** The error for a request without a valid session. */
export class SignedOut extends Error {
  override name = "SignedOut";
}

/**
 * Returns the signed-in person's context for the use cases.
 * @throws SignedOut; Refusal when the rate limit is reached
 */
export const openRequest = async (c: HonoCall, access: Access, writes: boolean): Promise<Context> => {
  const caller = await sessionCaller(c);
  if (!caller) throw new SignedOut();
  const context = openContext(c, { caller, access, writes, bookmark: lastBookmark(c) });
  await checkRate(c.env, context.config, caller);
  return context;
};

export const toPageRequest = (c: HonoCall): PageRequest => {
  const { searchParams: query, origin } = new URL(c.req.url);
  return { params: c.req.param(), query, origin, form: null, problem: null };
};

/**
 * Reads a form's fields. Browsers send line breaks as CRLF; the function converts them to LF.
 * @throws Refusal too-large
 */
export const readForm = async (c: HonoCall): Promise<URLSearchParams> => {
  const text = new TextDecoder().decode(await readBytes(c.req.raw, LIMITS.bodyBytes));
  const fields = [...new URLSearchParams(text)].map(([name, value]) => [name, value.replaceAll("\r\n", "\n")]);
  return new URLSearchParams(fields as [string, string][]);
};
