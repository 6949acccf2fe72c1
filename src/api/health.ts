import type { Hono } from "hono";
import type { Readiness } from "../protocol/readiness.ts";
import { VERSION } from "../protocol/version.ts";
import { readiness } from "../services/readiness.ts";
import type { AppEnv } from "../web/app-env.ts";

/** Milliseconds for which an answer is given again: anybody may ask, and each look costs the database something. */
const FRESH = 2000;

const known = new WeakMap<object, { at: number; found: Readiness }>();

const recentReadiness = async (env: Env, now: number): Promise<Readiness> => {
  const last = known.get(env);
  if (last && now - last.at < FRESH) return last.found;
  const found = await readiness(env);
  known.set(env, { at: now, found });
  return found;
};

/** `/healthz`: the Worker runs, and which. `/readyz`: so does all it needs. */
export const mountHealth = (app: Hono<AppEnv>): void => {
  app.get("/healthz", (c) => c.json({ isAlive: true, version: VERSION }, 200, { "Cache-Control": "no-store" }));
  app.get("/readyz", async (c) => {
    const found = await recentReadiness(c.env, Date.now());
    return c.json(found, found.isReady ? 200 : 503, { "Cache-Control": "no-store" });
  });
};
