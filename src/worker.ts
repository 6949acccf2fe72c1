import { createApp } from "./api/app.ts";
import { createArtifactHost, isOnArtifactHost } from "./api/artifact-host.ts";
import { readConfig } from "./config.ts";
import { createDashboard } from "./dashboard/shell/app.tsx";
import { log } from "./log.ts";
import { GitHostObject } from "./objects/host/git-host.ts";
import { takeKept } from "./services/deliveries/hook.ts";
import { keepUp } from "./services/upkeep/upkeep.ts";
import { staticFile } from "./web/static-files.ts";

export { BuildLog } from "./objects/log/build-log.ts";
export { AgentPool } from "./objects/pool/agent-pool.ts";

/** The object of a connection, with what the services do for it. */
export class GitHost extends GitHostObject {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, takeKept);
  }
}

const app = createApp();
const dashboard = createDashboard();
const artifactHost = createArtifactHost();

export default {
  async fetch(request, env, ctx) {
    const url = new URL(request.url);
    if (isOnArtifactHost(env, url)) return artifactHost.fetch(request, env, ctx);
    const { pathname } = url;
    const file = await staticFile(request, url, env);
    if (file) return file;
    const isPage = pathname === "/app" || pathname.startsWith("/app/");
    return (isPage ? dashboard : app).fetch(request, env, ctx);
  },
  async scheduled({ scheduledTime }, env) {
    const now = new Date(scheduledTime);
    const { BUILD_DAYS: buildDays, AUDIT_DAYS: auditDays } = readConfig(env);
    const done = await keepUp(env, now, { buildDays, auditDays });
    log.info("upkeep.ran", { orgId: null, done });
  },
} satisfies ExportedHandler<Env>;
