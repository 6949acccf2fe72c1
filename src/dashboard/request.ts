import type { Context as HonoContext } from "hono";
import { LIMITS } from "../protocol/limits.ts";
import type { Access } from "../services/core/access.ts";
import type { Context } from "../services/core/context.ts";
import { checkRate } from "../services/core/rate-limit.ts";
import type { AppEnv } from "../web/app-env.ts";
import { readBytes } from "../web/body.ts";
import { openContext } from "../web/open-context.ts";
import type { Asked } from "./page.ts";
import { lastSeen, sessionCaller } from "./session.ts";

export type Call = HonoContext<AppEnv>;

/** Nobody is signed in. */
export class SignedOut extends Error {
  override name = "SignedOut";
}

/** Opens the request of whoever is signed in. @throws SignedOut */
export const open = async (c: Call, access: Access, writes: boolean): Promise<Context> => {
  const caller = await sessionCaller(c);
  if (!caller) throw new SignedOut();
  const context = openContext(c, { caller, access, writes, bookmark: lastSeen(c) });
  await checkRate(c.env, context.config, caller.kind, caller.tokenHash);
  return context;
};

export const asked = (c: Call): Asked => {
  const { searchParams: query, origin } = new URL(c.req.url);
  return { params: c.req.param(), query, origin, entered: null, problem: null };
};

/** A form's fields, with the line ends of this world. @throws Refusal too-large */
export const readForm = async (c: Call): Promise<URLSearchParams> => {
  const text = new TextDecoder().decode(await readBytes(c.req.raw, LIMITS.bodyBytes));
  const fields = [...new URLSearchParams(text)].map(([name, value]) => [name, value.replaceAll("\r\n", "\n")]);
  return new URLSearchParams(fields as [string, string][]);
};
