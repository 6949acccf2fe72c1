import { deleteAgent, getAgent, listAgents, registerAgent, updateAgent } from "../services/agents/agents.ts";
import { listDeadLetters, retryDeadLetters } from "../services/agents/dead-letters.ts";
import { createBadge, deleteBadge } from "../services/builds/badges.ts";
import { cancelBuild, cancelJob, explainWait, getJob } from "../services/builds/build-jobs.ts";
import { listBuilds } from "../services/builds/build-list.ts";
import { deleteBuild, deleteLog, getBuild } from "../services/builds/builds.ts";
import { listLogTimes } from "../services/builds/logs.ts";
import { retryBuild } from "../services/builds/retry.ts";
import { triggerBuild, triggerRepositoryBuild } from "../services/builds/triggers.ts";
import { checkConnection } from "../services/connections/connection-check.ts";
import { rotateConnection, showHook } from "../services/connections/connection-hooks.ts";
import { deleteConnection } from "../services/connections/connection-removal.ts";
import { listHostRepositories } from "../services/connections/connection-repositories.ts";
import {
  createConnection,
  getConnection,
  listConnections,
  updateConnection,
} from "../services/connections/connections.ts";
import { installConnection } from "../services/connections/github-app.ts";
import { listDeliveries, redeliverDelivery } from "../services/deliveries/deliveries.ts";
import { finishBuild } from "../services/jobs/finish.ts";
import { approve, reject } from "../services/jobs/gates.ts";
import { heartbeat, releaseBuild, reportProgress, startBuild } from "../services/jobs/jobs.ts";
import { planBuild } from "../services/jobs/plan.ts";
import {
  createAdminToken,
  createOrganization,
  listOrganizations,
  updateOrganization,
} from "../services/organizations/organizations.ts";
import { reconcileRestored, restorePool } from "../services/organizations/restores.ts";
import { countSealed, rewrap } from "../services/organizations/rewrap.ts";
import { deleteCredential, setCredential } from "../services/repositories/credentials.ts";
import { checkPipeline } from "../services/repositories/pipeline-check.ts";
import { getPipelineHistory, listPipelineHistories } from "../services/repositories/pipeline-histories.ts";
import {
  createPipeline,
  deletePipeline,
  getPipeline,
  listPipelines,
  updatePipeline,
} from "../services/repositories/pipelines.ts";
import {
  connectRepository,
  deleteRepository,
  getRepository,
  listRepositories,
  updateRepository,
} from "../services/repositories/repositories.ts";
import { linkRepository } from "../services/repositories/repository-link.ts";
import {
  createSchedule,
  deleteSchedule,
  getSchedule,
  listNextTimes,
  listSchedules,
  updateSchedule,
} from "../services/schedules/schedules.ts";
import { getTestHistory, listFlakyTests } from "../services/tests/flaky-tests.ts";
import { getJobTests, listBuildTests, reportTests } from "../services/tests/test-reports.ts";
import { listAudit } from "../services/tokens/audit.ts";
import {
  createToken,
  getOwnToken,
  getToken,
  listTokens,
  revokeToken,
  rotateToken,
  updateToken,
} from "../services/tokens/tokens.ts";
import { listGrantedFiles, requestDownloads } from "../services/uploads/artifact-downloads.ts";
import { shareArtifact } from "../services/uploads/artifact-shares.ts";
import { finishArtifact, openArtifact } from "../services/uploads/artifact-uploads.ts";
import { getArtifact, listBuildArtifacts, listJobArtifacts, removeArtifact } from "../services/uploads/artifacts.ts";
import { findCache } from "../services/uploads/cache-finds.ts";
import { finishCache, openCache } from "../services/uploads/cache-saves.ts";
import { emptyCache, listCache } from "../services/uploads/caches.ts";
import { getEnvironment } from "../services/variables/environment.ts";
import { previewEnvironment } from "../services/variables/environment-preview.ts";
import { createGroup, deleteGroup, getGroup, listGroups, updateGroup } from "../services/variables/groups.ts";
import { listUnused, listUses } from "../services/variables/variable-uses.ts";
import {
  createVariable,
  deleteVariable,
  getVariable,
  listVariables,
  updateVariable,
} from "../services/variables/variables.ts";
import { downloadFile, downloadZip } from "../web/artifact-files.ts";
import { readLog } from "../web/log.ts";
import { act, create, get, post, put, type Route, remove, removeInShares, report, store, update } from "./route.ts";
import {
  deleteOrganization,
  downloadArtifact,
  downloadCache,
  exportOrganization,
  pollForJob,
  readMetrics,
  readServiceMetrics,
  sendCachePart,
  sendFile,
  sendPart,
  writeLog,
} from "./streams.ts";

/**
 * The API, one row for each route. The verb's `access` defines who may call it. `description/operations` documents it.
 */
export const ROUTES: Route[] = [
  // Routes for the operator of the service.
  get("/organization", { listOrganizations }),
  create("/organization", "/organization/:id", { createOrganization }),
  create("/organization/:id/token", "/token/:id", { createAdminToken }),
  update("/organization/:id", { updateOrganization }),
  removeInShares("/organization/:id", { deleteOrganization }),
  get("/organization/:id/export", { exportOrganization }),
  act("/operator/restored", { reconcileRestored }),
  act("/operator/pool/restore", { restorePool }),
  get("/operator/rewrap", { countSealed }),
  act("/operator/rewrap", { rewrap }),
  get("/operator/metrics", { readServiceMetrics }),
  get("/operator/dead-letter", { listDeadLetters }),
  act("/operator/dead-letter/retry", { retryDeadLetters }),

  get("/token", { listTokens }),
  create("/token", "/token/:id", { createToken }),
  get("/token/self", { getOwnToken }),
  get("/token/:id", { getToken }),
  update("/token/:id", { updateToken }),
  act("/token/:id/rotate", { rotateToken }),
  remove("/token/:id", { revokeToken }),

  get("/secrets/variables", { listVariables }),
  create("/secrets/variables", "/secrets/variables/:id", { createVariable }),
  get("/secrets/unused", { listUnused }),
  get("/secrets/variables/:id/uses", { listUses }),
  get("/secrets/variables/:id", { getVariable }),
  update("/secrets/variables/:id", { updateVariable }),
  remove("/secrets/variables/:id", { deleteVariable }),

  get("/secrets/groups", { listGroups }),
  create("/secrets/groups", "/secrets/groups/:id", { createGroup }),
  get("/secrets/groups/:id", { getGroup }),
  update("/secrets/groups/:id", { updateGroup }),
  remove("/secrets/groups/:id", { deleteGroup }),

  get("/connection", { listConnections }),
  create("/connection", "/connection/:id", { createConnection }),
  get("/connection/:id", { getConnection }),
  update("/connection/:id", { updateConnection }),
  remove("/connection/:id", { deleteConnection }),
  act("/connection/:id/installation", { installConnection }),
  act("/connection/:id/rotate", { rotateConnection }),
  get("/connection/:id/hook", { showHook }),
  get("/connection/:id/repository", { listHostRepositories }),
  create("/connection/:id/repository", "/repository/:id", { linkRepository }),
  get("/connection/:id/check", { checkConnection }),

  get("/connection/:id/delivery", { listDeliveries }),
  act("/connection/:id/delivery/:deliveryId/redeliver", { redeliverDelivery }),

  get("/repository", { listRepositories }),
  create("/repository", "/repository/:id", { connectRepository }),
  get("/repository/:id", { getRepository }),
  update("/repository/:id", { updateRepository }),
  remove("/repository/:id", { deleteRepository }),
  put("/repository/:id/credential", { setCredential }),
  remove("/repository/:id/credential", { deleteCredential }),

  get("/pipeline", { listPipelines }),
  create("/pipeline", "/pipeline/:id", { createPipeline }),
  act("/pipeline/check", { checkPipeline }),
  get("/pipeline/history", { listPipelineHistories }),
  get("/pipeline/:id", { getPipeline }),
  update("/pipeline/:id", { updatePipeline }),
  remove("/pipeline/:id", { deletePipeline }),
  get("/pipeline/:id/history", { getPipelineHistory }),
  get("/pipeline/:id/environment", { previewEnvironment }),
  act("/pipeline/:id/badge", { createBadge }),
  remove("/pipeline/:id/badge", { deleteBadge }),

  get("/schedule", { listSchedules }),
  create("/schedule", "/schedule/:id", { createSchedule }),
  get("/schedule/:id", { getSchedule }),
  update("/schedule/:id", { updateSchedule }),
  remove("/schedule/:id", { deleteSchedule }),
  get("/schedule/:id/next", { listNextTimes }),

  create("/repository/:id/build", "/build/:id", { triggerRepositoryBuild }),
  get("/build", { listBuilds }),
  create("/build", "/build/:id", { triggerBuild }),
  get("/build/:id", { getBuild }),
  remove("/build/:id", { deleteBuild }),
  act("/build/:id/cancel", { cancelBuild }),
  get("/build/:id/explain", { explainBuild: explainWait }),
  create("/build/:id/retry", "/build/:id", { retryBuild }),
  get("/build/:id/log", { readLog }),
  get("/build/:id/log/times", { listLogTimes }),
  remove("/build/:id/log", { deleteLog }),

  // Routes for the jobs of builds. A build's first job has the build's id.
  get("/job/:id", { getJob }),
  get("/job/:id/log", { readJobLog: readLog }),
  get("/job/:id/log/times", { listJobLogTimes: listLogTimes }),
  get("/job/:id/explain", { explainJob: explainWait }),
  act("/job/:id/cancel", { cancelJob }),
  act("/job/:id/approve", { approveJob: approve }),
  act("/job/:id/reject", { rejectJob: reject }),
  act("/build/:id/approve", { approveBuild: approve }),
  act("/build/:id/reject", { rejectBuild: reject }),

  // Routes for artifacts of jobs, and for their readers: later jobs and people.
  post("/job/:id/artifact", { openArtifact }),
  put("/job/:id/artifact/:artifactId/part/:part", { sendPart }),
  act("/job/:id/artifact/:artifactId/done", { finishArtifact }),
  act("/job/:id/download", { requestDownloads }),
  get("/artifact/:grant/list", { listGrantedFiles }),
  get("/artifact/:grant/content", { downloadArtifact }),
  get("/build/:id/artifact", { listBuildArtifacts }),
  get("/job/:id/artifact/:name", { getArtifact }),
  get("/job/:id/artifact/:name/content/:path", { downloadFile }),
  get("/job/:id/artifact/:name/zip", { downloadZip }),
  act("/job/:id/artifact/:name/share", { shareArtifact }),
  remove("/job/:id/artifact/:name", { removeArtifact }),
  get("/job/:id/artifact", { listJobArtifacts }),

  // Routes for the test results of jobs.
  put("/job/:id/tests", { reportTests }),
  get("/build/:id/tests", { listBuildTests }),
  get("/job/:id/tests", { getJobTests }),
  get("/repository/:id/flaky", { listFlakyTests }),
  get("/repository/:id/test/:testId", { getTestHistory }),

  // Routes for the cache of builds.
  act("/job/:id/cache/find", { findCache }),
  post("/job/:id/cache", { openCache }),
  put("/job/:id/cache/:cacheId/part/:part", { sendCachePart }),
  report("/job/:id/cache/:cacheId/done", { finishCache }),
  get("/cache/:grant/content", { downloadCache }),
  get("/repository/:id/cache", { listCache }),
  remove("/repository/:id/cache", { emptyCache }),

  get("/buildagent", { listAgents }),
  get("/buildagent/metrics", { readMetrics }),
  get("/buildagent/:id", { getAgent }),
  update("/buildagent/:id", { updateAgent }),
  remove("/buildagent/:id", { deleteAgent }),

  // Routes for agents. A path with a build's id means the build's first job.
  create("/buildagent/register", "/buildagent/:id", { registerAgent }),
  get("/buildagent/:id/poll", { pollForJob }),
  act("/buildagent/:id/heartbeat", { heartbeat }),
  put("/build/:id/plan", { planBuild }),
  store("/build/:id/file", { sendFile }),
  act("/build/:id/start", { startBuild }),
  report("/build/:id/progress", { reportProgress }),
  act("/build/:id/release", { releaseBuild }),
  put("/build/:id/log", { writeLog }),
  act("/build/:id/finish", { finishBuild }),
  act("/build/:id/environment", { getEnvironment }),
  act("/job/:id/start", { startJob: startBuild }),
  report("/job/:id/progress", { reportJobProgress: reportProgress }),
  act("/job/:id/release", { releaseJob: releaseBuild }),
  put("/job/:id/log", { writeJobLog: writeLog }),
  act("/job/:id/finish", { finishJob: finishBuild }),
  act("/job/:id/environment", { getJobEnvironment: getEnvironment }),

  get("/audit", { listAudit }),
];
