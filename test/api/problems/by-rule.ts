import { env } from "cloudflare:workers";
import { gitHostName } from "../../../src/domain/durable-objects.ts";
import type { DeliveryNote } from "../../../src/githosts/core/delivery-note.ts";
import type { Problem } from "../../../src/protocol/problem.ts";
import { type Answer, call, create, newPipeline, newRepository } from "../../support/api.ts";
import { triggerBuild } from "../../support/build-setup.ts";
import { type FilledOrganization, newFilledOrganization } from "../../support/filled-organization.ts";
import { BY_RULE_OF_FILES } from "./by-rule-of-files.ts";
import {
  AGENT,
  asAgent,
  between,
  byOperator,
  cancel,
  finishAs,
  limited,
  nothing,
  overtaken,
  type Provoke,
  start,
  takes,
  twice,
  withBrokenToken,
  without,
  withoutLease,
} from "./provocations.ts";

const keyed = { "Idempotency-Key": "one" };
const post =
  (path: (at: FilledOrganization) => string, body?: (at: FilledOrganization) => unknown, headers = {}): Provoke =>
  (at) =>
    call(at.admin, "POST", path(at), body?.(at), headers);
const build = (more: object = {}) =>
  post(
    () => "/build",
    ({ pipeline }) => ({ pipelineId: pipeline.id, ...more }),
    keyed,
  );
const buildRepository = (more: object = {}) =>
  post(
    ({ ids }) => `/repository/${ids["/repository"]}/build`,
    () => more,
    keyed,
  );
const canceledBuild = async (at: FilledOrganization) => {
  const { id } = await triggerBuild(at.admin, at.pipeline.id);
  await call(at.admin, "POST", `/build/${id}/cancel`);
  return id;
};
const retry = async (at: FilledOrganization) =>
  call(at.admin, "POST", `/build/${await canceledBuild(at)}/retry`, undefined, keyed);
const inTurn =
  (first: Provoke, second: Provoke): Provoke =>
  async (at) => {
    await first(at);
    return second(at);
  };
const ofJob = (verb: string) => post(({ ids }) => `/job/${ids["/job"]}/${verb}`);
const COMMIT = { commitSha: "c".repeat(40) };
const PLAN = { ...COMMIT, path: ".millrace.yml", text: "jobs: { a: { steps: [{ run: make }] } }" };
const setCredential = ({ admin, ids }: FilledOrganization) =>
  call(admin, "PUT", `/repository/${ids["/repository"]}/credential`, { kind: "token", value: "v" });
const variable = ({ orgId }: FilledOrganization, key = "TWICE") => ({
  key,
  value: "v",
  isSecret: false,
  scope: "organization",
  orgId,
});

/** Polls over a WebSocket as an agent program after a newer program replaced it. */
const pollOfOldProgram: Provoke = async ({ agent }) => {
  const as = (boot: string, more = {}) =>
    call(agent.token, "GET", `/buildagent/${agent.id}/poll?wait=0`, undefined, { "X-Boot-Id": boot, ...more });
  await as("first");
  await as("second");
  return as("first", { Upgrade: "websocket" });
};

const LARGE = "x".repeat(48 * 1024);
const tooMuchEnvironment: Provoke = async (at) => {
  for (const index of [1, 2, 3, 4, 5, 6]) {
    await create(at.admin, "/secrets/variables", { ...variable(at, `LARGE_${index}`), value: LARGE });
  }
  return call(at.admin, "GET", `/pipeline/${at.pipeline.id}/environment`);
};

const NIGHTLY = { name: "nightly", cron: "0 3 * * *" };

const TOO_LARGE: DeliveryNote = {
  ...{ id: "large", at: 0, event: "push", repository: null, ref: null, sha: null },
  ...{ builds: [], ignored: null, arrival: null },
};

/** Requests that raise a problem by an operation's own rules, by the operation's id and the problem's kind. */
export const BY_RULE: Record<string, Provoke> = {
  ...BY_RULE_OF_FILES,
  "createOrganization duplicate": ({ orgId }) =>
    call(env.OPERATOR_TOKEN ?? "", "POST", "/organization", { id: orgId, name: "x" }),

  "createAdminToken conflict": async ({ orgId }) => {
    await call(env.OPERATOR_TOKEN ?? "", "DELETE", `/organization/${orgId}`);
    return call(env.OPERATOR_TOKEN ?? "", "POST", `/organization/${orgId}/token`);
  },

  "updateOrganization conflict": ({ orgId }) => {
    const set = (buildsPerDay: number) =>
      [env.OPERATOR_TOKEN ?? "", "PATCH", `/organization/${orgId}`, { limits: { buildsPerDay } }] as const;
    // The operator's read checks no token, so it is a batch with one statement.
    return between(() => call(...set(8)), 1)(...set(9));
  },

  "listDeadLetters not-found": byOperator("GET", "/operator/dead-letter?orgId=nobody"),
  "retryDeadLetters not-found": byOperator("POST", "/operator/dead-letter/retry", { orgId: "nobody" }),
  "reconcileRestored not-found": byOperator("POST", "/operator/restored", { what: "database", orgId: "nobody" }),
  "restorePool not-found": byOperator("POST", "/operator/pool/restore", {
    orgId: "nobody",
    at: "2026-11-01T00:00:00Z",
  }),

  // workerd has no point-in-time recovery, so no time is available.
  "restorePool conflict": ({ orgId }) =>
    call(env.OPERATOR_TOKEN ?? "", "POST", "/operator/pool/restore", { orgId, at: "2026-11-01T00:00:00Z" }),

  "createToken limit-reached": without(
    "tokens",
    post(
      () => "/token",
      () => ({ name: "one more", kind: "api" }),
    ),
  ),
  "updateToken conflict": overtaken("PUT", "/token", { name: "x" }),
  "revokeToken conflict": overtaken("DELETE", "/token"),
  "rotateToken conflict": overtaken("POST", "/token", { graceSeconds: 0 }, "/rotate"),

  "createVariable duplicate": twice("/secrets/variables", (at) => variable(at)),
  "createVariable limit-reached": limited(
    "variables",
    post(
      () => "/secrets/variables",
      (at) => variable(at),
    ),
  ),
  "updateVariable duplicate": takes(
    "/secrets/variables",
    (at) => create(at.admin, "/secrets/variables", variable(at)),
    { key: "TWICE" },
  ),
  "updateVariable conflict": overtaken("PUT", "/secrets/variables", { description: "x" }, "", { description: "y" }),
  "deleteVariable conflict": overtaken("DELETE", "/secrets/variables", undefined, "", { description: "y" }),

  "createGroup limit-reached": without(
    "groups",
    post(
      () => "/secrets/groups",
      () => ({ name: "one more" }),
    ),
  ),
  "createGroup duplicate": twice("/secrets/groups", () => ({ name: "twice" })),
  "updateGroup duplicate": takes(
    "/secrets/groups",
    ({ admin }) => create(admin, "/secrets/groups", { name: "other" }),
    { name: "other" },
  ),
  "updateGroup conflict": overtaken("PUT", "/secrets/groups", { name: "x" }),
  "deleteGroup conflict": overtaken("DELETE", "/secrets/groups"),
  "deleteGroup in-use": async ({ admin, ids, pipeline }) => {
    await call(admin, "PUT", `/pipeline/${pipeline.id}`, { groupIds: [ids["/secrets/groups"]] });
    return call(admin, "DELETE", `/secrets/groups/${ids["/secrets/groups"]}`);
  },

  "createSchedule duplicate": twice("/schedule", ({ pipeline }) => ({ ...NIGHTLY, pipelineId: pipeline.id })),
  "createSchedule limit-reached": limited(
    "schedules",
    post(
      () => "/schedule",
      ({ pipeline }) => ({ ...NIGHTLY, pipelineId: pipeline.id }),
    ),
  ),
  "updateSchedule duplicate": takes(
    "/schedule",
    ({ admin, pipeline }) => create(admin, "/schedule", { ...NIGHTLY, pipelineId: pipeline.id }),
    { name: NIGHTLY.name },
  ),
  "updateSchedule conflict": overtaken("PUT", "/schedule", { cron: "0 5 * * *" }),
  "deleteSchedule conflict": overtaken("DELETE", "/schedule"),
  "createBadge conflict": overtaken("POST", "/pipeline", undefined, "/badge"),
  "deleteBadge conflict": overtaken("DELETE", "/pipeline", undefined, "/badge"),

  "redeliverDelivery conflict": async ({ admin, orgId, ids }) => {
    const connectionId = ids["/connection"] ?? "";
    await env.GIT_HOST.getByName(gitHostName(orgId, connectionId)).noteDelivery(TOO_LARGE);
    return call(admin, "POST", `/connection/${connectionId}/delivery/${TOO_LARGE.id}/redeliver`);
  },

  "createConnection limit-reached": without(
    "connections",
    post(
      () => "/connection",
      () => ({ kind: "gitea", name: "one more", webUrl: "https://git.example" }),
    ),
  ),
  "updateConnection conflict": overtaken("PUT", "/connection", { name: "x" }),
  "deleteConnection conflict": overtaken("DELETE", "/connection"),
  "installConnection conflict": ({ admin, ids }) =>
    call(admin, "POST", `/connection/${ids["/connection"]}/installation`),
  "rotateConnection conflict": overtaken("POST", "/connection", undefined, "/rotate"),
  "listHostRepositories conflict": withBrokenToken("GET", "/repository"),
  "checkConnection conflict": withBrokenToken("GET", "/check"),
  "linkRepository limit-reached": without(
    "repositories",
    post(
      ({ ids }) => `/connection/${ids["/connection"]}/repository`,
      () => ({ hostRepoId: 7, fullName: "acme/hosted" }),
    ),
  ),
  "connectRepository limit-reached": without("repositories", async ({ admin }) =>
    call(admin, "POST", "/repository", { gitHostRepoId: 9, fullName: "a/b", cloneUrl: "https://git.example/a/b.git" }),
  ),
  "createPipeline limit-reached": without(
    "pipelines",
    post(
      () => "/pipeline",
      ({ repository }) => ({ repoId: repository.id, name: "one more" }),
    ),
  ),
  "linkRepository conflict": withBrokenToken("POST", "/repository", { hostRepoId: 7 }),
  "linkRepository duplicate": async ({ admin, ids }) => {
    const host = { kind: "gitea", name: "the same", webUrl: "https://git.example" };
    const { id } = await create(admin, "/connection", host);
    const repository = { hostRepoId: 7, fullName: "acme/hosted" };
    await create(admin, `/connection/${id}/repository`, repository);
    return call(admin, "POST", `/connection/${ids["/connection"]}/repository`, repository);
  },

  "connectRepository duplicate": ({ admin, repository: { gitHostRepoId, fullName, cloneUrl } }) =>
    call(admin, "POST", "/repository", { gitHostRepoId, fullName, cloneUrl }),
  "updateRepository duplicate": async (at) => {
    const other = { gitHostRepoId: 1, fullName: "a/b", cloneUrl: "https://other.example/a/b.git" };
    const { id } = await create(at.admin, "/repository", other);
    return call(at.admin, "PUT", `/repository/${id}`, { cloneUrl: at.repository.cloneUrl });
  },
  "updateRepository conflict": overtaken("PUT", "/repository", { fullName: "a/b" }, "", { fullName: "a/c" }),
  "updateRepository in-use": async (at) => {
    await setCredential(at);
    return call(at.admin, "PUT", `/repository/${at.repository.id}`, { cloneUrl: "https://other.example/a/b.git" });
  },
  "deleteRepository in-use": ({ admin, ids }) => call(admin, "DELETE", `/repository/${ids["/repository"]}`),
  "deleteRepository conflict": async (at) => {
    const { id } = await newRepository(at.admin, 2);
    const ids = { ...at.ids, "/repository": id };
    return overtaken("DELETE", "/repository", undefined, "", { fullName: "a/c" })({ ...at, ids });
  },
  "setCredential conflict": overtaken("PUT", "/repository", { kind: "token", value: "v" }, "/credential", {
    fullName: "a/c",
  }),
  "deleteCredential conflict": async (at) => {
    await setCredential(at);
    return between(() => setCredential(at))(at.admin, "DELETE", `/repository/${at.repository.id}/credential`);
  },

  "createPipeline duplicate": twice("/pipeline", ({ repository }) => ({ repoId: repository.id, name: "twice" })),
  "updatePipeline duplicate": takes(
    "/pipeline",
    ({ admin, repository }) => newPipeline(admin, repository.id, { name: "other" }),
    { name: "other" },
  ),
  "updatePipeline conflict": overtaken("PUT", "/pipeline", { name: "x" }),
  "deletePipeline in-use": ({ admin, ids }) => call(admin, "DELETE", `/pipeline/${ids["/pipeline"]}`),
  "deletePipeline conflict": async (at) => {
    const { id } = await newPipeline(at.admin, at.repository.id, { name: "unused" });
    return overtaken("DELETE", "/pipeline")({ ...at, ids: { ...at.ids, "/pipeline": id } });
  },
  "previewEnvironment too-large": tooMuchEnvironment,

  "triggerBuild conflict": async (at) => {
    await call(at.admin, "PUT", `/pipeline/${at.pipeline.id}`, { isActive: false });
    return build()(at);
  },
  "triggerRepositoryBuild conflict": async (at) => {
    await call(at.admin, "PUT", `/repository/${at.repository.id}`, { isActive: false });
    return buildRepository()(at);
  },
  "triggerBuild idempotency-mismatch": inTurn(build(), build({ priority: 1 })),
  "triggerBuild limit-reached": limited("waitingJobs", build()),
  "triggerRepositoryBuild idempotency-mismatch": inTurn(buildRepository(), buildRepository({ branch: "other" })),
  "triggerRepositoryBuild limit-reached": limited("waitingJobs", buildRepository()),
  "retryBuild idempotency-mismatch": inTurn(retry, retry),
  "retryBuild limit-reached": async (at) => {
    const id = await canceledBuild(at);
    return limited(
      "waitingJobs",
      post(() => `/build/${id}/retry`),
    )(at);
  },
  "retryBuild conflict": post(({ ids }) => `/build/${ids["/build"]}/retry`),
  "deleteBuild conflict": ({ admin, ids }) => call(admin, "DELETE", `/build/${ids["/build"]}`),
  "deleteLog conflict": ({ admin, ids }) => call(admin, "DELETE", `/build/${ids["/build"]}/log`),
  "cancelBuild conflict": async (at) => call(at.admin, "POST", `/build/${await canceledBuild(at)}/cancel`),

  "registerAgent limit-reached": limited(
    "agents",
    post(
      () => "/buildagent/register",
      () => AGENT,
    ),
  ),
  "pollForJob conflict": pollOfOldProgram,
  "startBuild lease-lost": withoutLease("start"),
  "startBuild conflict": asAgent("start", undefined, cancel),
  "reportProgress lease-lost": withoutLease("progress", {}),
  "reportProgress conflict": asAgent("progress", {}, nothing),
  "releaseBuild lease-lost": withoutLease("release", { reason: "x" }),
  "releaseBuild conflict": asAgent("release", { reason: "x", elsewhere: true }, start),
  "writeLog lease-lost": withoutLease("log?offset=0", "x", "PUT"),
  "writeLog log-gap": asAgent("log?offset=9", "x", start, "PUT"),
  "writeLog too-large": asAgent("log?offset=0", "x".repeat(1024 * 1024 + 1), start, "PUT"),
  "sendFile lease-lost": withoutLease("file", "steps: [{ run: make }]", "PUT"),
  "sendFile conflict": asAgent("file", "steps: [{ run: make }]", nothing, "PUT"),
  "sendFile malformed-body": asAgent("file", new Uint8Array([0xff]), nothing, "PUT"),
  "finishBuild lease-lost": withoutLease("finish", { status: "failed" }),
  "finishBuild conflict": asAgent("finish", { status: "failed" }, finishAs("succeeded")),

  "planBuild lease-lost": withoutLease("plan", PLAN, "PUT"),
  "planBuild conflict": asAgent("plan", PLAN, nothing, "PUT"),
  "planBuild limit-reached": async (at) => {
    const plan = asAgent("plan", PLAN, start, "PUT");
    return limited("waitingJobs", plan)(at);
  },
  "getEnvironment lease-lost": withoutLease("environment", COMMIT),
  "getEnvironment conflict": asAgent("environment", COMMIT, nothing),
  "startJob lease-lost": withoutLease("start", undefined, "POST", "/job"),
  "startJob conflict": asAgent("start", undefined, cancel, "POST", "/job"),
  "reportJobProgress lease-lost": withoutLease("progress", {}, "POST", "/job"),
  "reportJobProgress conflict": asAgent("progress", {}, nothing, "POST", "/job"),
  "releaseJob lease-lost": withoutLease("release", { reason: "x" }, "POST", "/job"),
  "releaseJob conflict": asAgent("release", { reason: "x", elsewhere: true }, start, "POST", "/job"),
  "writeJobLog lease-lost": withoutLease("log?offset=0", "x", "PUT", "/job"),
  "writeJobLog log-gap": asAgent("log?offset=9", "x", start, "PUT", "/job"),
  "writeJobLog too-large": asAgent("log?offset=0", "x".repeat(1024 * 1024 + 1), start, "PUT", "/job"),
  "finishJob lease-lost": withoutLease("finish", { status: "failed" }, "POST", "/job"),
  "finishJob conflict": asAgent("finish", { status: "failed" }, finishAs("succeeded"), "POST", "/job"),
  "getJobEnvironment lease-lost": withoutLease("environment", COMMIT, "POST", "/job"),
  "getJobEnvironment conflict": asAgent("environment", COMMIT, nothing, "POST", "/job"),

  "cancelJob conflict": inTurn(ofJob("cancel"), ofJob("cancel")),
  "approveJob conflict": ofJob("approve"),
  "rejectJob conflict": ofJob("reject"),
  "approveBuild conflict": async (at) => call(at.admin, "POST", `/build/${await canceledBuild(at)}/approve`),
  "rejectBuild conflict": async (at) => call(at.admin, "POST", `/build/${await canceledBuild(at)}/reject`),
};

export const provokeByRule = async (pair: string): Promise<Answer<Problem>> =>
  BY_RULE[pair]!(await newFilledOrganization());
