import { Hono, type Context as HonoContext, type MiddlewareHandler } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import { readConfig } from "../config.ts";
import { BOOKMARK_HEADER } from "../protocol/headers.ts";
import { identify } from "../services/core/admission.ts";
import { type Context, entityTag } from "../services/core/context.ts";
import { checkRate, ratePolicy } from "../services/core/rate-limit.ts";
import { Refusal } from "../services/core/refusal.ts";
import type { AppEnv } from "../web/app-env.ts";
import { hasTag, linkToNext } from "../web/headers.ts";
import { openContext } from "../web/open-context.ts";
import { logFailure, problemResponse, toRefusal } from "../web/problems.ts";
import { requestId, requestLog } from "../web/request-log.ts";
import { mountPublicRoutes } from "./public-routes.ts";
import { bodyValidator, checkHeaders, jsonBody, readBookmark, requestHeaders, validator } from "./read-request.ts";
import { methodsOf, type Route } from "./route.ts";
import { ROUTES } from "./routes.ts";

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

/**
 * Lets pages of the configured origins call the API. Tokens are in a header, so an attacker cannot abuse a cookie
 * (CSRF).
 */
const cors: MiddlewareHandler<AppEnv> = async (c, next) => {
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

/** Returns the path in the router's form. A `path` at its end may have slashes. */
const pattern = (path: string): string => path.replace(/:path$/, ":path{.+}");

/** Opens the request. The service knows the caller, but has not yet admitted it. */
const open =
  ({ method, verb }: Route): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    const caller = await identify(c.env, c.req.header("Authorization") ?? null);
    const context = openContext(c, {
      caller,
      access: verb.access,
      writes: method !== "GET" || caller.kind === "agent",
      bookmark: readBookmark(c.req),
      headers: requestHeaders(c.req),
    });
    c.header("RateLimit-Policy", ratePolicy(context.config, caller.kind));
    await checkRate(c.env, context.config, caller);
    await context.admitEarly();
    checkHeaders(c.req);
    await next();
    const bookmark = context.db.bookmark;
    if (bookmark) c.res.headers.set(BOOKMARK_HEADER, bookmark);
  };

const input = (c: HonoContext<AppEnv>, { verb }: Route) => {
  const valid = (target: string): unknown => c.req.valid(target as never);
  return {
    params: verb.params ? valid("param") : undefined,
    query: verb.query ? valid("query") : undefined,
    body: verb.body ? valid("json") : undefined,
  };
};

const answer = async (c: HonoContext<AppEnv>, route: Route): Promise<Response> => {
  const { verb, status } = route;
  const context = c.get("context");
  if ("stream" in verb) return verb.stream(c, context, { ...input(c, route), body: undefined });
  const { value, version, nextCursor, isSecret, isMoving } = await verb.answer(context, input(c, route));
  if (status === 204) return c.body(null, 204);
  if (version !== null) c.header("ETag", entityTag(version));
  if (isSecret) c.header("Cache-Control", "no-store");
  if (nextCursor !== null) c.header("Link", linkToNext(c.req.url, nextCursor));
  const isSame = version !== null && !isMoving && hasTag(c.req.header("If-None-Match"), entityTag(version));
  if (route.method === "GET" && isSame) return c.body(null, 304);
  if (route.location) c.header("Location", route.location.replace(":id", (value as { id: string }).id));
  return c.json(value as object, status);
};

/** Problems that the service reports only to admitted callers. Before admission, the service answers 401 or 403. */
const TOLD_AFTER_ADMISSION = new Set([
  "malformed-body",
  "unsupported-media-type",
  "too-large",
  "invalid",
  "not-found",
  // A log rejects a removed agent in the same way as an agent that lost its lease. Only the pool can distinguish them.
  "lease-lost",
]);

const refuse = async (c: HonoContext<AppEnv>, error: unknown): Promise<Refusal> => {
  const refusal = toRefusal(error);
  const context: Context | undefined = c.get("context");
  if (!context || !TOLD_AFTER_ADMISSION.has(refusal.kind)) return refusal;
  try {
    await context.admit();
    return refusal;
  } catch (earlier) {
    return toRefusal(earlier);
  }
};

export const createApp = (): Hono<AppEnv> => {
  // Hono's other router does not support `/token/:id` beside `/token/self`. Each isolate would fill it in vain first.
  const app = new Hono<AppEnv>({ router: new TrieRouter() });
  app.use(requestId, requestLog);
  mountPublicRoutes(app);
  app.use(cors);
  for (const route of ROUTES) {
    const { verb } = route;
    const checks = [
      ...(verb.body ? [jsonBody(verb.mayLackBody === true, verb.bodyBytes)] : []),
      ...(verb.params ? [validator("param", verb.params)] : []),
      ...(verb.query ? [validator("query", verb.query)] : []),
      ...(verb.body ? [bodyValidator(verb.body)] : []),
    ];
    app.on(methodsOf(route), [pattern(route.path)], open(route), ...(checks as MiddlewareHandler<AppEnv>[]), (c) =>
      answer(c, route),
    );
  }
  for (const [path, routes] of Map.groupBy(ROUTES, (route) => pattern(route.path))) {
    const methods = routes.flatMap(methodsOf).flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    const allow = [...methods, "OPTIONS"].join(", ");
    app.options(path, (c) => c.body(null, 204, { Allow: allow }));
    app.all(path, (c) => {
      const refused = problemResponse(
        new Refusal("method-not-allowed", "This path does not support the method. See the Allow header."),
        c.get("requestId"),
      );
      refused.headers.set("Allow", allow);
      return refused;
    });
  }
  app.notFound((c) =>
    problemResponse(new Refusal("not-found", "No route has this path. See /docs for all routes."), c.get("requestId")),
  );
  app.onError(async (error, c) => {
    const refusal = await refuse(c, error);
    const requestId = c.get("requestId");
    logFailure(c, refusal);
    return problemResponse(refusal, requestId);
  });
  return app;
};
