/** Swagger UI sets styles by script. Everything else must come from this origin. */
const VIEWER_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const rule = (path: string, headers: Record<string, string>): string =>
  [path, ...Object.entries({ ...headers, "X-Content-Type-Options": "nosniff" }).map(([k, v]) => `  ${k}: ${v}`)].join(
    "\n",
  );

const IMMUTABLE = { "Cache-Control": "public, max-age=31536000, immutable" };
const TEXT = { "Content-Type": "text/plain; charset=utf-8" };
const PUBLIC = { "Access-Control-Allow-Origin": "*" };

/** The headers that Cloudflare adds to static files (`_headers`). */
export const HEADERS = `${[
  rule("/app/static/*", IMMUTABLE),
  rule("/agent-*", IMMUTABLE),
  rule("/agent.mjs.sha256", TEXT),
  rule("/agent-:version.sha256", TEXT),
  rule("/THIRD-PARTY-NOTICES.txt", TEXT),
  rule("/docs/*.md", TEXT),
  rule("/docs", { "Content-Security-Policy": VIEWER_POLICY, "Referrer-Policy": "no-referrer" }),
  rule("/problems/*", { "Content-Security-Policy": PAGE_POLICY }),
  rule("/openapi.json", PUBLIC),
  rule("/schema/*", PUBLIC),
].join("\n\n")}\n`;
