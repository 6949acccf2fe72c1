import type { Context, Hono } from "hono";
import type { Readiness } from "../protocol/readiness.ts";
import { VERSION } from "../protocol/version.ts";
import { checkAddressRate } from "../services/core/rate-limit.ts";
import { readiness } from "../services/readiness.ts";
import type { AppEnv } from "../web/app-env.ts";

/** Milliseconds for which a check is reused: the path needs no token, and each check asks the database and objects. */
const FRESH_MS = 5000;

const known = new WeakMap<object, { at: number; found: Promise<Readiness> }>();

/** The check of the last few seconds, also one that still runs. */
const recentReadiness = (env: Env, now: number): Promise<Readiness> => {
  const last = known.get(env);
  if (last && now - last.at < FRESH_MS) return last.found;
  const found = readiness(env);
  known.set(env, { at: now, found });
  return found;
};

const showReadiness = async (c: Context<AppEnv>): Promise<Response> => {
  const found = await recentReadiness(c.env, Date.now());
  return c.json(found, found.isReady ? 200 : 503, { "Cache-Control": "no-store" });
};

/** `/healthz`: the Worker runs, with its version. `/readyz`: everything that it needs is available, or 503. */
export const mountHealth = (app: Hono<AppEnv>): void => {
  app.get("/healthz", (c) => c.json({ isAlive: true, version: VERSION }, 200, { "Cache-Control": "no-store" }));
  app.get("/readyz", async (c) => {
    await checkAddressRate(c.env, c.req.header("CF-Connecting-IP") ?? "");
    return showReadiness(c);
  });
};
