import { AGENT_PROTOCOL_ROUTES } from "./routes/agent-protocol.ts";
import { AGENT_ROUTES } from "./routes/agents.ts";
import { ARTIFACT_ROUTES } from "./routes/artifacts.ts";
import { AUDIT_ROUTES } from "./routes/audit.ts";
import { BUILD_ROUTES } from "./routes/builds.ts";
import { CACHE_ROUTES } from "./routes/cache.ts";
import { CONNECTION_ROUTES } from "./routes/connections.ts";
import { DELIVERY_ROUTES } from "./routes/deliveries.ts";
import { GROUP_ROUTES } from "./routes/groups.ts";
import { JOB_ROUTES } from "./routes/jobs.ts";
import { OPERATOR_ROUTES } from "./routes/operator.ts";
import { PIPELINE_ROUTES } from "./routes/pipelines.ts";
import { REPOSITORY_ROUTES } from "./routes/repositories.ts";
import { aliasesOf, type Route } from "./routes/route.ts";
import { SCHEDULE_ROUTES } from "./routes/schedules.ts";
import { TEST_ROUTES } from "./routes/tests.ts";
import { TOKEN_ROUTES } from "./routes/tokens.ts";
import { VARIABLE_ROUTES } from "./routes/variables.ts";

/** The API: one row for each route, one file for each noun. Who may call a route stands in its verb's `access`. */
export const ROUTES: Route[] = [
  ...OPERATOR_ROUTES,
  ...TOKEN_ROUTES,
  ...VARIABLE_ROUTES,
  ...GROUP_ROUTES,
  ...CONNECTION_ROUTES,
  ...DELIVERY_ROUTES,
  ...REPOSITORY_ROUTES,
  ...PIPELINE_ROUTES,
  ...SCHEDULE_ROUTES,
  ...BUILD_ROUTES,
  ...JOB_ROUTES,
  ...ARTIFACT_ROUTES,
  ...aliasesOf(ARTIFACT_ROUTES),
  ...TEST_ROUTES,
  ...CACHE_ROUTES,
  ...AGENT_ROUTES,
  ...AGENT_PROTOCOL_ROUTES,
  ...aliasesOf(AGENT_PROTOCOL_ROUTES),
  ...AUDIT_ROUTES,
];
