import { createApp } from "./api/app.ts";
import { readConfig } from "./config.ts";
import { keepUp } from "./services/upkeep.ts";

export { AgentPool } from "./objects/agent-pool.ts";
export { BuildLog } from "./objects/build-log.ts";

const app = createApp();

export default {
  fetch: app.fetch,
  async scheduled(_, env) {
    const { BUILD_DAYS: buildDays, AUDIT_DAYS: auditDays } = readConfig(env);
    const done = await keepUp(env, new Date(), { buildDays, auditDays });
    console.log(JSON.stringify({ upkeep: done }));
  },
} satisfies ExportedHandler<Env>;
