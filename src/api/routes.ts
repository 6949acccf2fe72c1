import type * as z from "zod/mini";
import * as agents from "../services/agents.ts";
import * as audit from "../services/audit.ts";
import * as builds from "../services/builds.ts";
import type { Verb } from "../services/core/verb.ts";
import * as credentials from "../services/credentials.ts";
import { previewEnvironment } from "../services/environment-preview.ts";
import { explainBuild } from "../services/explain.ts";
import * as groups from "../services/groups.ts";
import * as jobs from "../services/jobs.ts";
import * as organizations from "../services/organizations.ts";
import { checkPipeline } from "../services/pipeline-check.ts";
import * as pipelines from "../services/pipelines.ts";
import * as repositories from "../services/repositories.ts";
import * as rewraps from "../services/rewrap.ts";
import * as tokens from "../services/tokens.ts";
import * as triggers from "../services/triggers.ts";
import * as uses from "../services/variable-uses.ts";
import * as variables from "../services/variables.ts";
import type { StreamRoute } from "../web/app-env.ts";
import { readLog } from "../web/log.ts";
import { pollForJob, readMetrics, writeLog } from "./streams.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** One route: all that is known of it stands here and in its verb. `status` is that of its success. */
export interface Route {
  method: Method;
  /** A second name of the method: the same in every respect. */
  alias?: Method;
  path: string;
  status: 200 | 201 | 204;
  // biome-ignore lint/suspicious/noExplicitAny: a table of verbs with different inputs
  verb: Verb<any, any, any, z.ZodMiniType> | StreamRoute;
}

// biome-ignore lint/suspicious/noExplicitAny: as above
type AnyVerb = Verb<any, any, any, any> | StreamRoute;

const get = (path: string, verb: AnyVerb): Route => ({ method: "GET", path, status: 200, verb });
const create = (path: string, verb: AnyVerb): Route => ({ method: "POST", path, status: 201, verb });
const act = (path: string, verb: AnyVerb): Route => ({ method: "POST", path, status: 200, verb });
const tell = (path: string, verb: AnyVerb): Route => ({ method: "POST", path, status: 204, verb });
const put = (path: string, verb: AnyVerb): Route => ({ method: "PUT", path, status: 200, verb });
/** Changes what it is given of a record, which other APIs call PATCH. */
const update = (path: string, verb: AnyVerb): Route => ({ ...put(path, verb), alias: "PATCH" });
const remove = (path: string, verb: AnyVerb): Route => ({ method: "DELETE", path, status: 204, verb });

/** Every method that leads to the route. */
export const methodsOf = ({ method, alias }: Route): Method[] => (alias ? [method, alias] : [method]);

/** The API. Who may call what stands in each verb's `access`. */
export const ROUTES: Route[] = [
  get("/organization", organizations.listOrganizations),
  create("/organization", organizations.createOrganization),
  create("/organization/:id/token", organizations.createAdminToken),

  get("/operator/rewrap", rewraps.countSealed),
  act("/operator/rewrap", rewraps.rewrap),

  get("/token", tokens.listTokens),
  create("/token", tokens.createToken),
  get("/token/self", tokens.getOwnToken),
  get("/token/:id", tokens.getToken),
  update("/token/:id", tokens.updateToken),
  act("/token/:id/rotate", tokens.rotateToken),
  remove("/token/:id", tokens.revokeToken),

  get("/secrets/variables", variables.listVariables),
  create("/secrets/variables", variables.createVariable),
  get("/secrets/unused", uses.listUnused),
  get("/secrets/variables/:id/uses", uses.listUses),
  get("/secrets/variables/:id", variables.getVariable),
  update("/secrets/variables/:id", variables.updateVariable),
  remove("/secrets/variables/:id", variables.deleteVariable),

  get("/secrets/groups", groups.listGroups),
  create("/secrets/groups", groups.createGroup),
  get("/secrets/groups/:id", groups.getGroup),
  update("/secrets/groups/:id", groups.updateGroup),
  remove("/secrets/groups/:id", groups.deleteGroup),

  get("/repository", repositories.listRepositories),
  create("/repository", repositories.connectRepository),
  get("/repository/:id", repositories.getRepository),
  update("/repository/:id", repositories.updateRepository),
  remove("/repository/:id", repositories.deleteRepository),
  put("/repository/:id/credential", credentials.setCredential),
  remove("/repository/:id/credential", credentials.deleteCredential),
  create("/repository/:id/build", triggers.triggerRepositoryBuild),

  get("/pipeline", pipelines.listPipelines),
  create("/pipeline", pipelines.createPipeline),
  act("/pipeline/check", checkPipeline),
  get("/pipeline/:id", pipelines.getPipeline),
  update("/pipeline/:id", pipelines.updatePipeline),
  remove("/pipeline/:id", pipelines.deletePipeline),
  get("/pipeline/:id/environment", previewEnvironment),

  get("/build", builds.listBuilds),
  create("/build", triggers.triggerBuild),
  get("/build/:id", builds.getBuild),
  act("/build/:id/cancel", builds.cancelBuild),
  get("/build/:id/explain", explainBuild),
  create("/build/:id/retry", triggers.retryBuild),
  get("/build/:id/log", readLog),

  get("/buildagent", agents.listAgents),
  get("/buildagent/metrics", readMetrics),
  create("/buildagent/register", agents.registerAgent),
  get("/buildagent/:id", agents.getAgent),
  update("/buildagent/:id", agents.updateAgent),
  remove("/buildagent/:id", agents.deleteAgent),

  get("/buildagent/:id/poll", pollForJob),
  act("/buildagent/:id/heartbeat", jobs.heartbeat),
  act("/build/:id/start", jobs.startBuild),
  tell("/build/:id/progress", jobs.reportProgress),
  act("/build/:id/release", jobs.releaseBuild),
  put("/build/:id/log", writeLog),
  act("/build/:id/finish", jobs.finishBuild),

  get("/audit", audit.listAudit),
];
