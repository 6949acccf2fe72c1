import type { MiddlewareHandler } from "hono";
import { Refusal } from "../services/core/refusal.ts";

/** Scripts, styles and pictures come from here alone; what a log or a name says never becomes markup or code. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types millrace",
].join("; ");

const HEADERS = {
  "Content-Security-Policy": POLICY,
  "Cache-Control": "no-store",
  "Referrer-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
  "X-Frame-Options": "DENY",
};

/** The headers of every page; those an answer has set itself stand. */
export const securityHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(HEADERS)) if (!c.res.headers.has(name)) c.header(name, value);
  if (new URL(c.req.url).protocol === "https:") c.header("Strict-Transport-Security", "max-age=31536000");
};

const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

/** Whatever changes something must come from a page of this very origin. @throws Refusal */
export const sameOrigin: MiddlewareHandler = async (c, next) => {
  const from = c.req.header("Sec-Fetch-Site") ?? "same-origin";
  if (!SAFE.has(c.req.method) && (c.req.header("Origin") !== new URL(c.req.url).origin || from !== "same-origin")) {
    throw new Refusal(
      "forbidden",
      "This came from another site, so nothing was changed. Repeat it from the page here.",
    );
  }
  await next();
};
