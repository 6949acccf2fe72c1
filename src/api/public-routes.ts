import type { Context, Hono } from "hono";
import { LIMITS } from "../protocol/limits.ts";
import { VERSION } from "../protocol/version.ts";
import { readBadge } from "../services/builds/badges.ts";
import { checkAddressRate, checkHookRate, checkOrganizationRate } from "../services/core/rate-limit.ts";
import { notFound, Refusal } from "../services/core/refusal.ts";
import { type KnownHook, provenDelivery, recognizeHook, takeOrKeep } from "../services/deliveries/hook.ts";
import { type Readiness, readiness } from "../services/organizations/readiness.ts";
import { fileAt, openAddress, sharedWhole } from "../services/uploads/artifact-shares.ts";
import type { AppEnv } from "../web/app-env.ts";
import { bytesAnswer, INERT_FILE, saveAs, zipAnswer } from "../web/artifact-bytes.ts";
import { readBytes } from "../web/body.ts";
import { hasTag } from "../web/headers.ts";
import { openContext } from "../web/open-context.ts";
import { problemResponse } from "../web/problems.ts";

const checkCaller = (c: Context<AppEnv>): Promise<void> =>
  checkAddressRate(c.env, c.req.header("CF-Connecting-IP") ?? "");

const BADGE_FILE = /^(mrb_[A-Za-z0-9_.-]{1,140})\.svg$/;

const BADGE_HEADERS = {
  "Content-Type": "image/svg+xml; charset=utf-8",
  "Cache-Control": "max-age=60",
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "X-Content-Type-Options": "nosniff",
};

const computeTag = async (text: string): Promise<string> => {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `"${new Uint8Array(hash).toHex().slice(0, 32)}"`;
};

const showBadge = async (c: Context<AppEnv>): Promise<Response> => {
  await checkCaller(c);
  const [, token = ""] = BADGE_FILE.exec(c.req.param("file") ?? "") ?? [];
  const svg = await readBadge(c.env, token, c.req.query("branch"));
  const headers = { ...BADGE_HEADERS, ETag: await computeTag(svg) };
  return hasTag(c.req.header("If-None-Match"), headers.ETag) ? c.body(null, 304, headers) : c.body(svg, 200, headers);
};

/**
 * Answers with everything that an address shares, or with one of its files. The address is enough, so the request needs
 * no token.
 */
const showShared = async (c: Context<AppEnv>): Promise<Response> => {
  await checkCaller(c);
  const opened = await openAddress(c.env, "share", c.req.param("token") ?? "", Date.now());
  const path = c.req.param("path");
  const whole = path === undefined ? sharedWhole(c.env, opened) : fileAt(c.env, opened, path);
  if (!whole) throw notFound();
  if ("body" in whole) return zipAnswer(c, whole, `${opened.facts.name ?? "artifact"}.zip`);
  return bytesAnswer(c, whole, { ...INERT_FILE, "Content-Disposition": saveAs(whole.name) });
};

/**
 * Milliseconds for which the Worker reuses a check. The path needs no token, and each check calls the database and
 * objects.
 */
const FRESH_MS = 5000;

const checksByService = new WeakMap<object, { at: number; check: Promise<Readiness> }>();

/** Returns whether the Worker's dependencies were available in the last few seconds. Callers share a running check. */
const recentReadiness = (env: Env, now: number): Promise<Readiness> => {
  const last = checksByService.get(env);
  if (last && now - last.at < FRESH_MS) return last.check;
  const check = readiness(env);
  checksByService.set(env, { at: now, check });
  return check;
};

const showReadiness = async (c: Context<AppEnv>): Promise<Response> => {
  await checkCaller(c);
  const state = await recentReadiness(c.env, Date.now());
  return c.json(state, state.isReady ? 200 : 503, { "Cache-Control": "no-store" });
};

/** A separate function, so that the body is released before the caller waits for anything. */
const readProven = async ({ raw }: Context<AppEnv>["req"], hook: KnownHook) =>
  provenDelivery(hook, raw.headers, await readBytes(raw, LIMITS.deliveryBytes));

const takeDelivery = async (c: Context<AppEnv>): Promise<Response> => {
  const token = c.req.param("token") ?? "";
  const hook = await recognizeHook(c.env, token);
  await checkHookRate(c.env, token);
  if (!/^application\/json\s*(;|$)/i.test(c.req.header("Content-Type") ?? "")) {
    throw new Refusal("unsupported-media-type", "Set the hook's content type to application/json.");
  }
  const { id, event, arrival } = await readProven(c.req, hook);
  const { orgId, connectionId, generation } = hook;
  // Count only proven deliveries. Otherwise, a sender who only knows the address could use up the organization's limit.
  await checkOrganizationRate(c.env, orgId, "hooks");
  const context = openContext(c, {
    caller: { kind: "connection", orgId, tokenHash: "", connectionId },
    access: { connection: true },
    writes: true,
    bookmark: null,
    headers: {},
  });
  await context.admit();
  const delivery = { connectionId, generation, id: id ?? context.newId(), event, arrival };
  return c.json(await takeOrKeep(context, delivery), 202);
};

/** Adds the routes without a token, where the address is enough. Git hosts prove deliveries by their signature. */
export const mountPublicRoutes = (app: Hono<AppEnv>): void => {
  app.get("/healthz", (c) => c.json({ isAlive: true, version: VERSION }, 200, { "Cache-Control": "no-store" }));
  app.get("/readyz", showReadiness);
  // A forged address or delivery causes no call to the database or an object.
  app.post("/hook/:token", takeDelivery);
  app.all("/hook/:token", (c) => {
    const refused = problemResponse(
      new Refusal("method-not-allowed", "This path does not support the method. See the Allow header."),
      c.get("requestId"),
    );
    refused.headers.set("Allow", "POST");
    return refused;
  });
  app.get("/badge/:file", showBadge);
  app.get("/share/:token", showShared);
  app.get("/share/:token/:path{.+}", showShared);
};
