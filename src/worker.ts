import type { Hono } from "hono";
import { createApp } from "./api/app.ts";
import { createArtifactHost, isOnArtifactHost } from "./api/artifact-host.ts";
import { readConfig } from "./config.ts";
import { createDashboard } from "./dashboard/shell/app.tsx";
import { log } from "./log.ts";
import { GitHostObject } from "./objects/host/git-host.ts";
import { oncePer } from "./once-per.ts";
import { takeKept } from "./services/deliveries/hook.ts";
import { keepUp } from "./services/upkeep/upkeep.ts";
import type { AppEnv } from "./web/app-env.ts";
import { staticFile } from "./web/static-files.ts";

export { BuildLog } from "./objects/log/build-log.ts";
export { AgentPool } from "./objects/pool/agent-pool.ts";

/** The object of a connection, with the services that handle its deliveries. */
export class GitHost extends GitHostObject {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, takeKept);
  }
}

/** Each app is created at its first request: an isolate that only runs an object, or only the API, needs no other. */
const app = oncePer<Hono<AppEnv>>();

export default {
  async fetch(request, env, ctx) {
    const url = new URL(request.url);
    if (isOnArtifactHost(env, url)) return app("artifacts", createArtifactHost).fetch(request, env, ctx);
    const { pathname } = url;
    const file = await staticFile(request, url, env);
    if (file) return file;
    const isPage = pathname === "/app" || pathname.startsWith("/app/");
    return (isPage ? app("pages", createDashboard) : app("api", createApp)).fetch(request, env, ctx);
  },
  async scheduled({ scheduledTime }, env) {
    const now = new Date(scheduledTime);
    const { BUILD_DAYS: buildDays, AUDIT_DAYS: auditDays } = readConfig(env);
    const done = await keepUp(env, now, { buildDays, auditDays });
    log.info("upkeep.ran", { orgId: null, done });
  },
} satisfies ExportedHandler<Env>;
