import type { Context, Hono } from "hono";
import { readBadge } from "../services/badges.ts";
import { checkAddressRate } from "../services/core/rate-limit.ts";
import type { AppEnv } from "../web/app-env.ts";
import { isKnown } from "../web/entity-tags.ts";

const FILE = /^(mrb_[A-Za-z0-9_.-]{1,140})\.svg$/;

const HEADERS = {
  "Content-Type": "image/svg+xml; charset=utf-8",
  "Cache-Control": "max-age=60",
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "X-Content-Type-Options": "nosniff",
};

const tagOf = async (text: string): Promise<string> => {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `"${new Uint8Array(hash).toHex().slice(0, 32)}"`;
};

const showBadge = async (c: Context<AppEnv>): Promise<Response> => {
  await checkAddressRate(c.env, c.req.header("CF-Connecting-IP") ?? "");
  const [, token = ""] = FILE.exec(c.req.param("file") ?? "") ?? [];
  const svg = await readBadge(c.env, token, c.req.query("branch"));
  const headers = { ...HEADERS, ETag: await tagOf(svg) };
  return isKnown(c.req.header("If-None-Match"), headers.ETag) ? c.body(null, 304, headers) : c.body(svg, 200, headers);
};

/** `/badge/ADDRESS.svg`: for whoever has the address, without a token. */
export const mountBadges = (app: Hono<AppEnv>): void => {
  app.get("/badge/:file", showBadge);
};
