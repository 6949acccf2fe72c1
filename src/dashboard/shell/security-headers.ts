import type { MiddlewareHandler } from "hono";
import { Refusal } from "../../services/core/refusal.ts";

/**
 * Returns the policy. Scripts, styles, fonts and images may come from this origin only. Trusted Types prevent text from
 * becoming markup.
 * @param formTarget the origin of another site that receives one of the page's forms, if there is such a site
 */
export const pagePolicy = (formTarget = "") =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    `form-action 'self' ${formTarget}`.trim(),
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types millrace",
  ].join("; ");

const HEADERS = {
  "Content-Security-Policy": pagePolicy(),
  "Cache-Control": "no-store",
  "Referrer-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
  "X-Frame-Options": "DENY",
};

/** Sets the headers of every page, except headers that the response already has. */
export const securityHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(HEADERS)) if (!c.res.headers.has(name)) c.header(name, value);
  if (new URL(c.req.url).protocol === "https:") c.header("Strict-Transport-Security", "max-age=31536000");
};

const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Rejects a changing request unless a page of this origin sent it.
 * @throws Refusal forbidden
 */
export const sameOrigin: MiddlewareHandler = async (c, next) => {
  const from = c.req.header("Sec-Fetch-Site") ?? "same-origin";
  if (!SAFE.has(c.req.method) && (c.req.header("Origin") !== new URL(c.req.url).origin || from !== "same-origin")) {
    throw new Refusal(
      "forbidden",
      "This request came from another site, so nothing was changed. Send it again from the page itself.",
    );
  }
  await next();
};
