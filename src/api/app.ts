import { Hono, type Context as HonoContext, type MiddlewareHandler } from "hono";
import { BOOKMARK_HEADER } from "../protocol/headers.ts";
import { BOOT_HEADER, LEASE_HEADER } from "../protocol/jobs.ts";
import { PROBLEMS } from "../protocol/problem.ts";
import { type Context, entityTag } from "../services/core/context.ts";
import { identify } from "../services/core/identify.ts";
import { checkRate, ratePolicy } from "../services/core/rate-limit.ts";
import { invalid, Refusal } from "../services/core/refusal.ts";
import type { AppEnv } from "../web/app-env.ts";
import { openContext } from "../web/open-context.ts";
import { describe, problemResponse, refusalOf } from "../web/problems.ts";
import { requestId } from "../web/request-id.ts";
import { requestLog } from "../web/request-log.ts";
import { jsonBody } from "./body.ts";
import { cors } from "./cors.ts";
import { mountHealth } from "./health.ts";
import { methodsOf, type Route } from "./routes/route.ts";
import { ROUTES } from "./routes.ts";
import { bodyValidator, validator } from "./validation.ts";

/** Opens the request: who calls is known, but not yet admitted. */
const open =
  ({ method, verb }: Route): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    const caller = await identify(c.env, c.req.header("Authorization") ?? null);
    const context = openContext(c, {
      ...{ caller, access: verb.access, writes: method !== "GET" || caller.kind === "agent" },
      ...{ bookmark: c.req.header(BOOKMARK_HEADER) ?? null, bootId: c.req.header(BOOT_HEADER)?.slice(0, 100) ?? null },
    });
    c.header("RateLimit-Policy", ratePolicy(context.config, caller.kind));
    await checkRate(c.env, context.config, caller.kind, caller.tokenHash);
    await context.enter();
    context.ifMatch = tags(c.req.header("If-Match"));
    context.idempotencyKey = idempotencyKey(c.req.header("Idempotency-Key"));
    context.lease = leaseOf(c.req.header(LEASE_HEADER));
    await next();
    const bookmark = context.db.bookmark;
    if (bookmark) c.header(BOOKMARK_HEADER, bookmark);
  };

const idempotencyKey = (text: string | undefined): string | null => {
  if (text === undefined) return null;
  if (!/^[\x21-\x7e]{1,200}$/.test(text)) throw invalid("Idempotency-Key", "must be 1 to 200 visible characters");
  return text;
};

const leaseOf = (text: string | undefined): number | null => {
  if (text === undefined) return null;
  if (!/^\d{1,16}$/.test(text)) throw invalid(LEASE_HEADER, "must be the number of a lease");
  return Number(text);
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
  const result = await verb.run(context, input(c, route));
  if (context.version !== null && status !== 204) c.header("ETag", entityTag(context.version));
  if (context.nextCursor !== null) c.header("Link", `<${nextPage(c.req.url, context.nextCursor)}>; rel="next"`);
  if (status === 204) return c.body(null, 204);
  if (route.method === "GET" && context.version !== null && names(c.req.header("If-None-Match"), context.version)) {
    return c.body(null, 304);
  }
  if (route.location) c.header("Location", route.location.replace(":id", (result as { id: string }).id));
  return c.json(result as object, status);
};

const nextPage = (url: string, cursor: string): string => {
  const next = new URL(url);
  next.searchParams.set("cursor", cursor);
  return next.href;
};

const tags = (header: string | undefined): string[] | null =>
  header === undefined ? null : header.split(",").map((tag) => tag.trim().replace(/^W\//, ""));

const names = (header: string | undefined, version: number): boolean =>
  tags(header)?.some((tag) => tag === "*" || tag === entityTag(version)) ?? false;

/** What is wrong with a request is told only to callers who are admitted: 401 and 403 come before it. */
const TOLD_AFTER_ADMISSION = new Set(["malformed-body", "unsupported-media-type", "too-large", "invalid", "not-found"]);

const refuse = async (c: HonoContext<AppEnv>, error: unknown): Promise<Refusal> => {
  const refusal = refusalOf(error);
  const context: Context | undefined = c.get("context");
  if (!context || !TOLD_AFTER_ADMISSION.has(refusal.kind)) return refusal;
  try {
    await context.admit();
    return refusal;
  } catch (earlier) {
    return refusalOf(earlier);
  }
};

export const createApp = (): Hono<AppEnv> => {
  const app = new Hono<AppEnv>();
  app.use(requestId, requestLog);
  mountHealth(app);
  app.use(cors);
  for (const route of ROUTES) {
    const { verb } = route;
    const checks = [
      ...(verb.body ? [jsonBody] : []),
      ...(verb.params ? [validator("param", verb.params)] : []),
      ...(verb.query ? [validator("query", verb.query)] : []),
      ...(verb.body ? [bodyValidator(verb.body)] : []),
    ];
    app.on(methodsOf(route), [route.path], open(route), ...(checks as MiddlewareHandler<AppEnv>[]), (c) =>
      answer(c, route),
    );
  }
  for (const [path, routes] of Map.groupBy(ROUTES, (route) => route.path)) {
    const methods = routes.flatMap(methodsOf).flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    const allow = [...methods, "OPTIONS"].join(", ");
    app.options(path, (c) => c.body(null, 204, { Allow: allow }));
    app.all(path, (c) => {
      const refused = problemResponse(new Refusal("method-not-allowed", "See Allow."), c.get("requestId"));
      refused.headers.set("Allow", allow);
      return refused;
    });
  }
  app.notFound((c) => problemResponse(new Refusal("not-found", "No route has this path."), c.get("requestId")));
  app.onError(async (error, c) => {
    const refusal = await refuse(c, error);
    const requestId = c.get("requestId");
    if (PROBLEMS[refusal.kind][0] >= 500) console.error(JSON.stringify({ requestId, error: describe(refusal) }));
    return problemResponse(refusal, requestId);
  });
  return app;
};
