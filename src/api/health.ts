import type { Hono } from "hono";
import type { Readiness } from "../protocol/readiness.ts";
import { VERSION } from "../protocol/version.ts";
import { readiness } from "../services/readiness.ts";
import type { AppEnv } from "../web/app-env.ts";

/** Milliseconds for which an answer is reused: the path needs no token, and each check queries the database. */
const FRESH_MS = 2000;

const known = new WeakMap<object, { at: number; found: Readiness }>();

const recentReadiness = async (env: Env, now: number): Promise<Readiness> => {
  const last = known.get(env);
  if (last && now - last.at < FRESH_MS) return last.found;
  const found = await readiness(env);
  known.set(env, { at: now, found });
  return found;
};

/** `/healthz`: the Worker runs, with its version. `/readyz`: everything that it needs is available, or 503. */
export const mountHealth = (app: Hono<AppEnv>): void => {
  app.get("/healthz", (c) => c.json({ isAlive: true, version: VERSION }, 200, { "Cache-Control": "no-store" }));
  app.get("/readyz", async (c) => {
    const found = await recentReadiness(c.env, Date.now());
    return c.json(found, found.isReady ? 200 : 503, { "Cache-Control": "no-store" });
  });
};
