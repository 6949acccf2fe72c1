import { env } from "cloudflare:workers";
import type { Job } from "../../../src/protocol/jobs.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import type { Problem } from "../../../src/protocol/problem.ts";
import { type Answer, call, created, newPipeline, newRepository } from "../../support/api.ts";
import { poll, trigger } from "../../support/build-setup.ts";
import { databaseWithHook, deployedWith } from "../../support/deployment.ts";
import { type Furnished, newFurnished } from "../../support/furnished.ts";

type Provoke = (at: Furnished) => Promise<Answer<Problem>>;

const AGENT = { name: "b", platform: 2, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: true };

/** Another caller does something between the two steps of a request: its read and its write. */
const between = (meanwhile: () => Promise<unknown>) => {
  let batches = 0;
  const DB = databaseWithHook(async (statements) => {
    // A batch of one statement only records that the token was used.
    if (statements > 1 && ++batches === 2) await meanwhile();
  });
  return deployedWith({ DB });
};

/** Another caller changes the record meanwhile. */
const overtaken =
  (method: string, noun: string, body?: unknown, rest = "", change: unknown = { name: "changed meanwhile" }): Provoke =>
  ({ admin, ids }) => {
    const path = `${noun}/${ids[noun]}`;
    return between(() => call(admin, "PUT", path, change))(admin, method, path + rest, body);
  };

const byOperator =
  (method: string, path: string, body?: unknown): Provoke =>
  () =>
    call(env.OPERATOR_TOKEN ?? "", method, path, body);

/** The same record is created twice. */
const twice =
  (path: string, body: (at: Furnished) => unknown): Provoke =>
  async (at) => {
    await created(at.admin, path, body(at));
    return call(at.admin, "POST", path, body(at));
  };

/** A record takes the name of another. */
const takes =
  (noun: string, other: (at: Furnished) => Promise<unknown>, change: unknown): Provoke =>
  async (at) => {
    await other(at);
    return call(at.admin, "PUT", `${noun}/${at.ids[noun]}`, change);
  };

/** Something that the agent does to its build, once it has come as far as `before` says. */
const asAgent =
  (rest: string, body: unknown, before: (job: Job, at: Furnished) => Promise<unknown>, method = "POST"): Provoke =>
  async (at) => {
    const { body: job } = await poll(at.agent);
    await before(job, at);
    return call(at.agent.token, method, `/build/${job.build.id}/${rest}`, body, { "X-Lease": String(job.lease) });
  };

const nothing = async () => {};
const start = ({ build, lease }: Job, { agent }: Furnished) =>
  call(agent.token, "POST", `/build/${build.id}/start`, undefined, { "X-Lease": String(lease) });
const finishAs = (status: string) => async (job: Job, at: Furnished) => {
  await start(job, at);
  const headers = { "X-Lease": String(job.lease) };
  await call(at.agent.token, "POST", `/build/${job.build.id}/finish`, { status }, headers);
};
const cancel = ({ build }: Pick<Job, "build">, { admin }: Furnished) =>
  call(admin, "POST", `/build/${build.id}/cancel`);

/** A lease that the agent never had. */
const withoutLease =
  (rest: string, body?: unknown, method = "POST"): Provoke =>
  ({ agent, ids }) =>
    call(agent.token, method, `/build/${ids["/build"]}/${rest}`, body, { "X-Lease": "1" });

/** A limit of the pool is down to nothing for the time of one request. */
const limited =
  (limit: keyof typeof LIMITS, provoke: Provoke): Provoke =>
  async (at) => {
    const before = LIMITS[limit];
    Object.assign(LIMITS, { [limit]: 0 });
    return provoke(at).finally(() => Object.assign(LIMITS, { [limit]: before }));
  };

const keyed = { "Idempotency-Key": "one" };
const post =
  (path: (at: Furnished) => string, body?: (at: Furnished) => unknown, headers = {}): Provoke =>
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
const canceledBuild = async (at: Furnished) => {
  const { id } = await trigger(at.admin, at.pipeline.id);
  await call(at.admin, "POST", `/build/${id}/cancel`);
  return id;
};
const retry = async (at: Furnished) =>
  call(at.admin, "POST", `/build/${await canceledBuild(at)}/retry`, undefined, keyed);
const inTurn =
  (first: Provoke, second: Provoke): Provoke =>
  async (at) => {
    await first(at);
    return second(at);
  };
const setCredential = ({ admin, ids }: Furnished) =>
  call(admin, "PUT", `/repository/${ids["/repository"]}/credential`, { kind: "token", value: "v" });
const variable = ({ orgId }: Furnished, key = "TWICE") => ({
  key,
  value: "v",
  isSecret: false,
  scope: "organization",
  orgId,
});

/** A poll of an agent program that was replaced by a newer one, over a WebSocket. */
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
    await created(at.admin, "/secrets/variables", { ...variable(at, `LARGE_${index}`), value: LARGE });
  }
  return call(at.admin, "GET", `/pipeline/${at.pipeline.id}/environment`);
};

/** A request that raises a problem of an operation's own rules, by the operation's id and the kind of problem. */
export const BY_RULE: Record<string, Provoke> = {
  "createOrganization duplicate": ({ orgId }) =>
    call(env.OPERATOR_TOKEN ?? "", "POST", "/organization", { id: orgId, name: "x" }),

  "createAdminToken conflict": async ({ orgId }) => {
    await call(env.OPERATOR_TOKEN ?? "", "DELETE", `/organization/${orgId}`);
    return call(env.OPERATOR_TOKEN ?? "", "POST", `/organization/${orgId}/token`);
  },

  "listDeadLetters not-found": byOperator("GET", "/operator/dead-letter?orgId=nobody"),
  "retryDeadLetters not-found": byOperator("POST", "/operator/dead-letter/retry", { orgId: "nobody" }),
  "reconcileRestored not-found": byOperator("POST", "/operator/restored", { what: "database", orgId: "nobody" }),
  "restorePool not-found": byOperator("POST", "/operator/pool/restore", {
    orgId: "nobody",
    at: "2026-11-01T00:00:00Z",
  }),

  // workerd has no point-in-time recovery: no time can be had.
  "restorePool conflict": ({ orgId }) =>
    call(env.OPERATOR_TOKEN ?? "", "POST", "/operator/pool/restore", { orgId, at: "2026-11-01T00:00:00Z" }),

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
    (at) => created(at.admin, "/secrets/variables", variable(at)),
    { key: "TWICE" },
  ),
  "updateVariable conflict": overtaken("PUT", "/secrets/variables", { description: "x" }, "", { description: "y" }),
  "deleteVariable conflict": overtaken("DELETE", "/secrets/variables", undefined, "", { description: "y" }),

  "createGroup duplicate": twice("/secrets/groups", () => ({ name: "twice" })),
  "updateGroup duplicate": takes(
    "/secrets/groups",
    ({ admin }) => created(admin, "/secrets/groups", { name: "other" }),
    { name: "other" },
  ),
  "updateGroup conflict": overtaken("PUT", "/secrets/groups", { name: "x" }),
  "deleteGroup conflict": overtaken("DELETE", "/secrets/groups"),
  "deleteGroup in-use": async ({ admin, ids, pipeline }) => {
    await call(admin, "PUT", `/pipeline/${pipeline.id}`, { groupIds: [ids["/secrets/groups"]] });
    return call(admin, "DELETE", `/secrets/groups/${ids["/secrets/groups"]}`);
  },

  "connectRepository duplicate": ({ admin, repository: { gitHostRepoId, fullName, cloneUrl } }) =>
    call(admin, "POST", "/repository", { gitHostRepoId, fullName, cloneUrl }),
  "updateRepository duplicate": async (at) => {
    const other = { gitHostRepoId: 1, fullName: "a/b", cloneUrl: "https://other.example/a/b.git" };
    const { id } = await created(at.admin, "/repository", other);
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
  "triggerBuild limit-reached": limited("queuedBuilds", build()),
  "triggerRepositoryBuild idempotency-mismatch": inTurn(buildRepository(), buildRepository({ branch: "other" })),
  "triggerRepositoryBuild limit-reached": limited("queuedBuilds", buildRepository()),
  "retryBuild idempotency-mismatch": inTurn(retry, retry),
  "retryBuild limit-reached": async (at) => {
    const id = await canceledBuild(at);
    return limited(
      "queuedBuilds",
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
};

export const provokeByRule = async (pair: string): Promise<Answer<Problem>> => BY_RULE[pair]!(await newFurnished());
