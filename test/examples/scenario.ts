import type { Sender } from "../../src/api/description/examples.ts";

/** One request. `$name.field` in it is that field of the answer to the step with this name; `$name.list.0.id` is deeper. */
export interface Step {
  operation: string;
  summary: string;
  as?: Sender;
  name?: string;
  id?: string;
  deliveryId?: string;
  /** Other parts of the path, by their names. */
  parts?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: unknown;
  status: number;
  /** The path of a value that appears eventually: the request is repeated until then. */
  until?: string;
  /** The value that `until` has eventually, instead of any value. */
  becomes?: number;
}

const step = (operation: string, status: number, summary: string, more: Partial<Step> = {}): Step => ({
  operation,
  status,
  summary,
  ...more,
});

const COMMIT = "3f2a9c61d05b7e84f1c0a2b3948576d1e0f9a8b7";
/** The features of the second agent program. */
const FEATURES = { "X-Agent-Features": "environment,jobs" };
const JOBS = `jobs:
  lint: { steps: [{ run: make lint }] }
  sign: { gate: { message: Sign it? }, steps: [{ run: make sign }] }
  ship: { gate: { message: Ship it? }, steps: [{ run: make ship }] }
  review: { gate: { message: Did somebody read it? } }
  tell: { needs: [review], gate: { message: Tell everybody? } }
  pack: { needs: [lint], steps: [{ run: make pack }] }
`;
/** The job's artifact, with one file. */
const CACHE_KEY = "npm/linux-x64/5f1d7a84";
const FAILED_TEST = {
  id: "3b7c1f0a9d2e4c58",
  ...{ suite: "cart", className: "CartTest", name: "adds up", file: "test/cart.test.ts", line: 12 },
  ...{ seconds: 0.4, outcome: "failed", tries: 1, isFlaky: false },
  ...{ message: "expected 3 to be 4", text: "at test/cart.test.ts:14:22" },
};
const REPORT = "no warnings\n";
const REPORT_SHA256 = "b24cd9941f90cd9d9f9eaf3debe5b38fc30946f4dff8234751f42ab3928861af";
const REPORT_CRC32 = "11c932c4";
const LOG = "Installing...\nTOKEN=***\nok\n";

const ofPlan = (body: string) => ({ commitSha: COMMIT, path: ".millrace.yml", text: body });
const underLease = (name: string, id: string, more: Partial<Step> = {}): Partial<Step> => ({
  ...{ as: "agent", id },
  headers: { "X-Lease": `$${name}.lease` },
  ...more,
});

/** Builds whose file an agent reads first: one with a single job, and two with several jobs. */
const JOBS_STORY: Step[] = [
  step("triggerBuild", 201, "A build whose file has not been read", {
    name: "unread",
    body: { pipelineId: "$pipeline.id", branch: "trunk", commitSha: COMMIT },
  }),
  step("pollForJob", 200, "A job without its environment", {
    ...{ as: "agent", name: "reader", id: "$agent.id", query: { wait: "50" }, headers: FEATURES },
  }),
  step("startBuild", 200, "The agent received the job", underLease("reader", "$unread.id")),
  step(
    "getEnvironment",
    200,
    "The agent read the file, which has no jobs",
    underLease("reader", "$unread.id", { body: { commitSha: COMMIT } }),
  ),
  step(
    "finishBuild",
    200,
    "Its tests failed",
    underLease("reader", "$unread.id", { body: { status: "failed", exitCode: 1 } }),
  ),
  step("triggerBuild", 201, "A build with several jobs", {
    name: "several",
    body: { pipelineId: "$pipeline.id", branch: "trunk", commitSha: COMMIT },
  }),
  step("pollForJob", 200, "The first job, which reads the file", {
    ...{ as: "agent", name: "root", id: "$agent.id", query: { wait: "50" }, headers: FEATURES },
  }),
  step("startBuild", 200, "The agent received the job", underLease("root", "$several.id")),
  step("planBuild", 200, "The commit's file", underLease("root", "$several.id", { name: "plan", body: ofPlan(JOBS) })),
  step(
    "planBuild",
    409,
    "A different text later",
    underLease("root", "$several.id", { body: ofPlan("jobs: { a: { steps: [{ run: make }] } }\n") }),
  ),
  step("explainJob", 200, "Why a job waits", { id: "$plan.jobs.0.id" }),
  step("approveBuild", 409, "Three gates are waiting: name the job", { id: "$several.id", body: {} }),
  step("approveJob", 200, "One gate is approved", { id: "$plan.jobs.1.id", body: { comment: "Checked by two" } }),
  step("cancelJob", 200, "The job is no longer needed", { id: "$plan.jobs.1.id" }),
  step("rejectJob", 200, "Another gate is rejected", { id: "$plan.jobs.2.id", body: { comment: "Not on a Friday" } }),
  step("approveBuild", 200, "One waiting gate is left", { id: "$several.id" }),
  step("rejectBuild", 200, "The next gate is waiting, and is rejected", { id: "$several.id" }),
  step("pollForJob", 200, "A job of the build", {
    ...{ as: "agent", name: "lint", id: "$agent.id", query: { wait: "50" }, headers: FEATURES },
  }),
  step("startJob", 200, "The agent received the job", underLease("lint", "$plan.jobs.0.id")),
  step(
    "getJobEnvironment",
    200,
    "Its environment again",
    underLease("lint", "$plan.jobs.0.id", { body: { commitSha: COMMIT } }),
  ),
  step(
    "reportJobProgress",
    204,
    "A value to mask",
    underLease("lint", "$plan.jobs.0.id", { body: { masks: ["example-session-token"] } }),
  ),
  step(
    "releaseJob",
    200,
    "The agent's machine is shutting down",
    underLease("lint", "$plan.jobs.0.id", { body: { reason: "the machine stops", interrupted: true } }),
  ),
  step("pollForJob", 200, "The next attempt", {
    ...{ as: "agent", name: "next", id: "$agent.id", query: { wait: "50" }, headers: FEATURES },
  }),
  step("startJob", 200, "The agent received the next attempt", underLease("next", "$plan.jobs.0.id")),
  step(
    "writeJobLog",
    200,
    "The job's complete log",
    underLease("next", "$plan.jobs.0.id", { query: { offset: "0", final: "true" }, body: LOG }),
  ),
  step(
    "openArtifact",
    201,
    "A report as an artifact",
    underLease("next", "$plan.jobs.0.id", {
      name: "artifact",
      body: { name: "report", as: "files", keepDays: 7, bytes: REPORT.length, files: 1 },
    }),
  ),
  step("sendPart", 200, "The report's bytes", {
    ...{ as: "agent", id: "$plan.jobs.0.id", name: "part", parts: { artifactId: "$artifact.artifactId", part: "1" } },
    headers: { "X-Grant": "$artifact.grant", "X-Content-SHA256": REPORT_SHA256 },
    body: REPORT,
  }),
  step("finishArtifact", 200, "The artifact's files", {
    ...{ as: "agent", id: "$plan.jobs.0.id", parts: { artifactId: "$artifact.artifactId" } },
    headers: { "X-Lease": "$next.lease", "X-Grant": "$artifact.grant" },
    body: {
      list: [{ path: "lint/report.txt", size: REPORT.length, mode: "644", sha256: REPORT_SHA256, crc32: REPORT_CRC32 }],
      etags: ["$part.etag"],
    },
  }),
  step(
    "reportTests",
    200,
    "The job's test results",
    underLease("next", "$plan.jobs.0.id", {
      body: {
        counts: { total: 1204, failed: 1, skipped: 2, flaky: 0, seconds: 41.7 },
        warnings: [],
        tests: [FAILED_TEST],
      },
    }),
  ),
  step(
    "openCache",
    201,
    "A cache entry for the next build",
    underLease("next", "$plan.jobs.0.id", {
      name: "cache",
      body: { key: CACHE_KEY, bytes: REPORT.length, sha256: REPORT_SHA256, codec: "gzip" },
    }),
  ),
  step("sendCachePart", 200, "Its bytes", {
    ...{ as: "agent", id: "$plan.jobs.0.id", name: "cachePart", parts: { cacheId: "$cache.cacheId", part: "1" } },
    headers: { "X-Grant": "$cache.grant", "X-Content-SHA256": REPORT_SHA256 },
    body: REPORT,
  }),
  step("finishCache", 204, "The entry is complete", {
    ...{ as: "agent", id: "$plan.jobs.0.id", parts: { cacheId: "$cache.cacheId" } },
    headers: { "X-Lease": "$next.lease", "X-Grant": "$cache.grant" },
    body: { etags: ["$cachePart.etag"] },
  }),
  step(
    "finishJob",
    200,
    "The job succeeded and has outputs",
    underLease("next", "$plan.jobs.0.id", {
      body: { status: "succeeded", exitCode: 0, outputs: { warnings: "0" } },
    }),
  ),
  step("getJob", 200, "The job with its outputs", { id: "$plan.jobs.0.id" }),
  step("readJobLog", 200, "Its log", { id: "$plan.jobs.0.id" }),
  step("listJobLogTimes", 200, "Times at which the parts were stored", { id: "$plan.jobs.0.id" }),
  step("pollForJob", 200, "The dependent job", {
    ...{ as: "agent", name: "pack", id: "$agent.id", query: { wait: "50" }, headers: FEATURES },
  }),
  step("startJob", 200, "The agent received the dependent job", underLease("pack", "$plan.jobs.5.id")),
  step(
    "requestDownloads",
    200,
    "The previous job's artifacts",
    underLease("pack", "$plan.jobs.5.id", {
      name: "downloads",
      body: { downloads: [{ from: "lint", artifact: "report" }] },
    }),
  ),
  step(
    "findCache",
    200,
    "An earlier job's cache entry",
    underLease("pack", "$plan.jobs.5.id", {
      name: "found",
      body: { entries: [{ key: CACHE_KEY, fallback: [] }], codecs: ["gzip"] },
    }),
  ),
  step("downloadCache", 200, "Its bytes", { as: "agent", parts: { grant: "$found.entries.0.grant" } }),
  step("listGrantedFiles", 200, "Its files", { as: "agent", parts: { grant: "$downloads.artifacts.0.grant" } }),
  step("downloadArtifact", 200, "Their bytes", { as: "agent", parts: { grant: "$downloads.artifacts.0.grant" } }),
  step(
    "finishJob",
    200,
    "The job succeeded",
    underLease("pack", "$plan.jobs.5.id", { body: { status: "succeeded", exitCode: 0 } }),
  ),
  step("listJobArtifacts", 200, "The job's artifacts", { id: "$plan.jobs.0.id" }),
  step("listBuildArtifacts", 200, "The artifacts of all jobs in the build", { id: "$several.id" }),
  step("getArtifact", 200, "The report, with its files", { id: "$plan.jobs.0.id", parts: { name: "report" } }),
  step("downloadFile", 200, "The artifact's only file", {
    ...{ id: "$plan.jobs.0.id", parts: { name: "report", path: "lint/report.txt" } },
  }),
  step("downloadZip", 200, "The artifact as a ZIP archive", { id: "$plan.jobs.0.id", parts: { name: "report" } }),
  step("shareArtifact", 200, "An address that works for a day", {
    ...{ id: "$plan.jobs.0.id", parts: { name: "report" }, body: { hours: 24, path: "lint" } },
  }),
  step("removeArtifact", 204, "The artifact is no longer needed", { id: "$plan.jobs.0.id", parts: { name: "report" } }),
  step("listBuildTests", 200, "Test results of all jobs", { id: "$several.id" }),
  step("getJobTests", 200, "Test results of one job", { id: "$plan.jobs.0.id" }),
  step("listFlakyTests", 200, "No test was flaky recently", { id: "$repo.id" }),
  step("getTestHistory", 200, "A test's history", { id: "$repo.id", parts: { testId: FAILED_TEST.id } }),
  step("listPipelineHistories", 200, "Recent builds of each pipeline", { query: { limit: "10" } }),
  step("getPipelineHistory", 200, "Recent builds of one pipeline", { id: "$pipeline.id" }),
  step("listCache", 200, "The repository's cache entries", { id: "$repo.id" }),
  step("emptyCache", 204, "The cache is empty", { id: "$repo.id" }),
  step("getBuild", 200, "The build with its jobs", { id: "$several.id" }),
];

/** A small team starts, builds once and cleans up. Uses every operation. */
export const SCENARIO: Step[] = [
  step("createOrganization", 201, "An organization near Western Europe", {
    as: "operator",
    name: "org",
    body: { id: "acme", name: "Acme", locationHint: "weur" },
  }),
  step("createOrganization", 409, "A slug that already exists", {
    as: "operator",
    body: { id: "acme", name: "Acme again" },
  }),
  step("updateOrganization", 200, "A higher limit", {
    as: "operator",
    id: "acme",
    body: { limits: { buildsPerDay: 50_000 } },
  }),
  step("listOrganizations", 200, "All organizations", { as: "operator" }),
  step("getOwnToken", 200, "Who am I?"),
  step("createToken", 201, "A token for a program that only reads", {
    name: "viewer",
    body: { name: "status board", kind: "api", role: "viewer" },
  }),
  step("createToken", 201, "A token that registers agents, until a given day", {
    name: "registration",
    body: { name: "mac minis", kind: "registration", labels: ["xcode-26", "store"], expiresAt: "2035-01-01T00:00:00Z" },
  }),
  step("listTokens", 200, "The first page of tokens", { query: { limit: "2" } }),
  step("rotateToken", 200, "A new secret; the old one works for five more minutes", {
    id: "$viewer.id",
    body: { graceSeconds: 300 },
  }),
  step("getToken", 200, "The token that registers agents", { id: "$registration.id" }),
  step("updateToken", 200, "Another name", { id: "$registration.id", body: { name: "mac minis of hall 2" } }),
  step("revokeToken", 204, "The token no longer works", { id: "$viewer.id" }),

  step("createGroup", 201, "Variables that all mobile apps share", {
    name: "group",
    body: { name: "signing", description: "What all mobile apps share" },
  }),
  step("updateGroup", 200, "Another name", { id: "$group.id", body: { name: "mobile signing" } }),
  step("createConnection", 201, "A Forgejo host with manual hooks", {
    name: "connection",
    body: { kind: "gitea", name: "our Forgejo", webUrl: "https://forgejo.example" },
  }),
  step("createConnection", 422, "A private address", {
    body: { kind: "gitea", name: "mine", webUrl: "https://localhost" },
  }),
  step("listConnections", 200, "All connections"),
  step("updateConnection", 200, "Another name", { id: "$connection.id", body: { name: "Forgejo of the team" } }),
  step("getConnection", 200, "The connection", { id: "$connection.id" }),
  step("showHook", 200, "The hook's settings for the git host", { id: "$connection.id" }),
  step("installConnection", 409, "The connection has no GitHub App", { id: "$connection.id" }),
  step("rotateConnection", 200, "A new address and secret", { id: "$connection.id" }),
  step("linkRepository", 201, "A repository on the host, by its number there", {
    name: "hosted",
    id: "$connection.id",
    body: { hostRepoId: 17, fullName: "acme/website" },
  }),
  step("listHostRepositories", 200, "No delivery has named a repository yet", { id: "$connection.id" }),
  step("checkConnection", 200, "No problems", { id: "$connection.id" }),
  step("listDeliveries", 200, "No deliveries yet", { id: "$connection.id" }),
  step("redeliverDelivery", 404, "No delivery has this id", {
    id: "$connection.id",
    deliveryId: "72d3162e-cc78-11e3-81ab-4c9367dc0958",
  }),
  step("connectRepository", 201, "A repository", {
    name: "repo",
    body: { gitHostRepoId: 4211, fullName: "acme/ios-app", cloneUrl: "https://git.example/acme/ios-app.git" },
  }),
  step("connectRepository", 422, "The address of a page instead of the repository", {
    body: { gitHostRepoId: 4212, fullName: "acme/tools", cloneUrl: "https://github.com/acme/tools/tree/main" },
  }),
  step("listRepositories", 200, "All repositories"),
  step("updateRepository", 200, "A different default branch", { id: "$repo.id", body: { defaultBranch: "trunk" } }),
  step("getRepository", 200, "The repository", { id: "$repo.id" }),
  step("setCredential", 200, "A read-only token from the git host", {
    id: "$repo.id",
    body: { kind: "token", username: "builds", value: "example-read-only-token" },
  }),
  step("createPipeline", 201, "A pipeline on macOS with a group attached", {
    name: "pipeline",
    body: {
      repoId: "$repo.id",
      name: "store",
      groupIds: ["$group.id"],
      requires: { platform: "macos", ios: true, labels: ["xcode-26"] },
      timeoutSeconds: 1800,
    },
  }),
  step("createPipeline", 422, "A definition with a mistake", {
    body: { repoId: "$repo.id", name: "lint", definition: "step:\n  - run: make lint\n" },
  }),
  step("checkPipeline", 200, "A file with a mistake", {
    body: { definition: "steps:\n  - run: make lint\n    shel: bash\n" },
  }),
  step("listPipelines", 200, "The pipelines of one repository", { query: { repoId: "$repo.id" } }),
  step("getPipeline", 200, "The pipeline", { id: "$pipeline.id" }),
  step("updatePipeline", 200, "One build at a time", { id: "$pipeline.id", body: { maxParallel: 1 } }),
  step("createSchedule", 201, "Every weeknight in Berlin", {
    name: "schedule",
    body: {
      ...{ pipelineId: "$pipeline.id", name: "nightly", cron: "0 3 * * 1-5", timeZone: "Europe/Berlin" },
      envVariables: { KIND: "nightly" },
    },
  }),
  step("createSchedule", 422, "A date that never occurs", {
    body: { pipelineId: "$pipeline.id", name: "never", cron: "0 0 30 2 *" },
  }),
  step("listSchedules", 200, "The schedules of one pipeline", { query: { pipelineId: "$pipeline.id" } }),
  step("getSchedule", 200, "The schedule", { id: "$schedule.id" }),
  step("listNextTimes", 200, "Its next times", { id: "$schedule.id" }),
  step("updateSchedule", 200, "Paused", { id: "$schedule.id", body: { isActive: false } }),
  step("deleteSchedule", 204, "The schedule is deleted", { id: "$schedule.id" }),
  step("createBadge", 200, "The address of a new badge", { id: "$pipeline.id" }),
  step("deleteBadge", 204, "The badge is deleted", { id: "$pipeline.id" }),

  step("createVariable", 201, "A plain variable for the whole organization", {
    name: "region",
    body: { key: "REGION", value: "eu-north", isSecret: false, scope: "organization", orgId: "acme" },
  }),
  step("createVariable", 201, "A secret of a group", {
    name: "secret",
    body: {
      key: "STORE_TOKEN",
      value: "example-store-token-81f2",
      isSecret: true,
      scope: "group",
      orgId: "acme",
      groupId: "$group.id",
      description: "Uploads to the store",
    },
  }),
  step("createVariable", 201, "A variable of one pipeline", {
    body: { key: "STAGE", value: "beta", isSecret: false, scope: "pipeline", pipelineId: "$pipeline.id" },
  }),
  step("createVariable", 201, "A secret file that no build has used yet", {
    body: {
      ...{ key: "DIST_CERTIFICATE", value: "ZXhhbXBsZQ==", isSecret: true, isFile: true, fileEncoding: "base64" },
      ...{ fileName: "dist.p12", scope: "pipeline", pipelineId: "$pipeline.id", isActive: false },
    },
  }),
  step("createVariable", 422, "A misspelled field name stores nothing unencrypted", {
    body: { key: "API_KEY", value: "example", isSecrte: true, scope: "repository", repoId: "$repo.id" },
  }),
  step("createVariable", 409, "The key already exists in this scope", {
    body: { key: "REGION", value: "us", isSecret: false, scope: "organization", orgId: "acme" },
  }),
  step("listVariables", 200, "A group's variables; secrets without their values", { query: { groupId: "$group.id" } }),
  step("getVariable", 200, "One variable", { id: "$region.id" }),
  step("updateVariable", 200, "A new value, if nobody changed the variable", {
    id: "$region.id",
    headers: { "If-Match": '"v1"' },
    body: { value: "eu-west" },
  }),
  step("updateVariable", 412, "Somebody changed the variable", {
    id: "$region.id",
    headers: { "If-Match": '"v1"' },
    body: { value: "us-east" },
  }),
  step("listUnused", 200, "Secrets that no build used", { query: { days: "30" } }),
  step("listGroups", 200, "Groups with their variables", { query: { includeVariables: "true" } }),
  step("getGroup", 200, "One group", { id: "$group.id" }),
  step("previewEnvironment", 200, "A build's environment, with each value's source", { id: "$pipeline.id" }),

  step("triggerBuild", 201, "A build with an override for this run", {
    name: "build",
    headers: { "Idempotency-Key": "release-7.1.0" },
    body: { pipelineId: "$pipeline.id", branch: "trunk", commitSha: COMMIT, envVariables: { STAGE: "release" } },
  }),
  step("triggerBuild", 422, "An override that could run code before any step", {
    body: { pipelineId: "$pipeline.id", branch: "trunk", envVariables: { LD_PRELOAD: "./evil.so" } },
  }),
  step("triggerRepositoryBuild", 201, "A branch's head, with the default pipeline", {
    name: "second",
    id: "$repo.id",
    body: { branch: "trunk" },
  }),
  step("explainBuild", 200, "Why a build waits", { id: "$build.id" }),
  step("deleteBuild", 409, "The build has not ended", { id: "$second.id" }),
  step("cancelBuild", 200, "The second build is not needed", { id: "$second.id" }),
  step("cancelBuild", 409, "The build has already ended", { id: "$second.id" }),

  step("registerAgent", 201, "A Mac with Xcode", {
    as: "registration",
    name: "agent",
    body: {
      name: "mac-mini-1",
      platform: 1,
      canBuildIOS: true,
      canBuildAndroid: false,
      canBuildWeb: true,
      labels: ["xcode-26", "store"],
      version: "0.1.0",
    },
  }),
  step("readMetrics", 200, "Waiting builds, and agents that can run them", {
    // The database gets the canceled build a second later.
    ...{ until: "outbox.builds", becomes: 0 },
  }),
  step("pollForJob", 200, "A job with its environment", {
    as: "agent",
    name: "job",
    id: "$agent.id",
    query: { wait: "50" },
  }),
  step("startBuild", 200, "The agent received the job", {
    as: "agent",
    id: "$build.id",
    headers: { "X-Lease": "$job.lease" },
  }),
  step("heartbeat", 200, "The build is running", {
    as: "agent",
    id: "$agent.id",
    headers: { "X-Lease": "$job.lease" },
  }),
  step("heartbeat", 200, "A lease that the build no longer has", {
    as: "agent",
    id: "$agent.id",
    headers: { "X-Lease": "1" },
  }),
  step("reportProgress", 204, "The commit, and a value to mask", {
    as: "agent",
    id: "$build.id",
    headers: { "X-Lease": "$job.lease" },
    body: { commitSha: COMMIT, masks: ["example-session-token"], summary: "Built 7.1.0" },
  }),
  step("sendFile", 204, "The file on the default branch", {
    as: "agent",
    id: "$build.id",
    headers: { "X-Lease": "$job.lease" },
    body: "on: { push: { branches: [main] } }\nsteps: [{ run: make }]\n",
  }),
  step("writeLog", 200, "The complete log", {
    as: "agent",
    id: "$build.id",
    headers: { "X-Lease": "$job.lease" },
    query: { offset: "0", final: "true" },
    body: LOG,
  }),
  step("getBuild", 200, "A running build", { id: "$build.id" }),
  step("finishBuild", 200, "The build succeeded", {
    as: "agent",
    id: "$build.id",
    headers: { "X-Lease": "$job.lease" },
    body: { status: "succeeded", exitCode: 0 },
  }),
  step("finishBuild", 409, "A different result later", {
    as: "agent",
    id: "$build.id",
    headers: { "X-Lease": "$job.lease" },
    body: { status: "failed", exitCode: 1 },
  }),
  step("listUses", 200, "Each day's first build that used a secret", { id: "$secret.id", until: "0" }),
  step("readLog", 200, "The log", { id: "$build.id" }),
  step("readLog", 206, "Its last three bytes", { id: "$build.id", headers: { Range: "bytes=-3" } }),
  step("listLogTimes", 200, "Times at which the parts were stored", { id: "$build.id" }),
  step("pollForJob", 204, "No job", { as: "agent", id: "$agent.id", query: { wait: "0" } }),
  step("retryBuild", 201, "The same build again", { name: "again", id: "$build.id" }),
  step("pollForJob", 200, "The retry", { as: "agent", name: "retried", id: "$agent.id", query: { wait: "50" } }),
  step("startBuild", 200, "The agent received the next attempt", {
    as: "agent",
    id: "$again.id",
    headers: { "X-Lease": "$retried.lease" },
  }),
  step("releaseBuild", 200, "The pipeline file requires Android, which this agent cannot build", {
    as: "agent",
    id: "$again.id",
    headers: { "X-Lease": "$retried.lease" },
    body: { reason: "the file requires android", requires: { android: true } },
  }),
  step("cancelBuild", 200, "No agent can run the build", { id: "$again.id" }),
  ...JOBS_STORY,
  step("listBuilds", 200, "The newest successful build of a branch", {
    query: { branch: "trunk", status: "succeeded", limit: "1" },
    until: "0",
  }),
  step("listBuilds", 200, "A commit's builds", {
    query: { commitSha: COMMIT.slice(0, 7), limit: "1" },
    until: "0.tests",
  }),
  step("deleteLog", 204, "The log contains private data", { id: "$build.id" }),
  step("readLog", 404, "The log is deleted", { id: "$build.id" }),
  step("deleteBuild", 204, "The build is no longer needed", { id: "$second.id" }),
  step("listAudit", 200, "Who created variables", { query: { action: "variable.create", limit: "1" } }),

  step("listAgents", 200, "All agents"),
  step("getAgent", 200, "An agent reads its own record", { as: "agent", id: "$agent.id" }),
  step("updateAgent", 200, "Finish the current build and accept no others", {
    id: "$agent.id",
    body: { isDraining: true },
  }),
  step("deleteAgent", 204, "The agent is deleted", { id: "$agent.id" }),
  step("countSealed", 200, "Everything is sealed with the current key", { as: "operator" }),
  step("rewrap", 200, "One batch", { as: "operator", body: { limit: 200 } }),
  step("readServiceMetrics", 200, "The whole deployment", { as: "operator" }),
  step("listDeadLetters", 200, "No dead letters", { as: "operator", query: { orgId: "acme" } }),
  step("retryDeadLetters", 200, "Nothing to retry", { as: "operator", body: { orgId: "acme" } }),
  step("reconcileRestored", 200, "The database was restored", { as: "operator", body: { what: "database" } }),
  step("restorePool", 409, "Only Cloudflare can restore a pool", {
    as: "operator",
    body: { orgId: "acme", at: "2026-01-01T00:00:00Z" },
  }),
  step("createAdminToken", 201, "A replacement for a lost admin token", { as: "operator", id: "acme" }),

  step("deleteGroup", 409, "A pipeline still uses it", { id: "$group.id" }),
  step("deleteVariable", 204, "The variable is deleted", { id: "$region.id" }),
  step("deletePipeline", 204, "The pipeline and its variables are deleted", { id: "$pipeline.id" }),
  step("deleteGroup", 204, "Nothing uses the group anymore", { id: "$group.id" }),
  step("deleteCredential", 204, "The repository no longer needs a credential", { id: "$repo.id" }),
  step("deleteRepository", 204, "The repository is disconnected", { id: "$repo.id" }),

  step("deleteConnection", 204, "The host is disconnected; its repositories stay", { id: "$connection.id" }),

  step("exportOrganization", 200, "Acme's tokens, to take along", { id: "acme", query: { noun: "token" } }),
  step("deleteOrganization", 202, "Acme leaves: its tokens no longer work", { as: "operator", id: "acme" }),
];
