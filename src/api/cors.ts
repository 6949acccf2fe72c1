import type { MiddlewareHandler } from "hono";
import { readConfig } from "../config.ts";
import { BOOKMARK_HEADER } from "../protocol/headers.ts";
import type { AppEnv } from "../web/app-env.ts";

const REQUEST_HEADERS = [
  "Authorization",
  "Content-Type",
  "If-Match",
  "If-None-Match",
  "If-Range",
  "Idempotency-Key",
  "Last-Event-ID",
  "Range",
  BOOKMARK_HEADER,
];
const RESPONSE_HEADERS = [
  "ETag",
  "Link",
  "Location",
  BOOKMARK_HEADER,
  "RateLimit-Policy",
  "Retry-After",
  "Server-Timing",
  "X-Request-Id",
  "Content-Range",
];
const PREFLIGHT_SECONDS = 7200;

/** Lets pages of the configured origins call the API. Tokens are in a header, so no cookie can be abused (CSRF). */
export const cors: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  const { DASHBOARD_ORIGINS: origins } = readConfig(c.env);
  if (origins.length === 0) return;
  c.header("Vary", "Origin", { append: true });
  const origin = c.req.header("Origin");
  if (!origin || !origins.includes(origin)) return;
  c.header("Access-Control-Allow-Origin", origin);
  c.header("Access-Control-Expose-Headers", RESPONSE_HEADERS.join(", "));
  const isPreflight = c.req.method === "OPTIONS" && c.req.header("Access-Control-Request-Method");
  if (!isPreflight) return;
  c.header("Access-Control-Allow-Methods", c.res.headers.get("Allow") ?? "");
  c.header("Access-Control-Allow-Headers", REQUEST_HEADERS.join(", "));
  c.header("Access-Control-Max-Age", String(PREFLIGHT_SECONDS));
};
