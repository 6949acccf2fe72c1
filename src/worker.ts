import { createApp } from "./api/app.ts";

export { AgentPool } from "./objects/agent-pool.ts";
export { BuildLog } from "./objects/build-log.ts";

const app = createApp();

export default { fetch: app.fetch } satisfies ExportedHandler<Env>;
