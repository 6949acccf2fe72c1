import { env } from "cloudflare:workers";
import type { Job } from "../../../src/protocol/jobs.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import type { ORGANIZATION_LIMITS } from "../../../src/protocol/organization.ts";
import type { Problem } from "../../../src/protocol/problem.ts";
import { type Answer, call, create } from "../../support/api.ts";
import { pollOnce } from "../../support/build-setup.ts";
import { callDeployedWith, databaseWithHook } from "../../support/deployment.ts";
import type { FilledOrganization } from "../../support/filled-organization.ts";

export type Provoke = (at: FilledOrganization) => Promise<Answer<Problem>>;

export const AGENT = { name: "b", platform: 2, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: true };

/** Lets another caller act between a request's two steps: its read and its write. */
export const between = (meanwhile: () => Promise<unknown>, writing = 2) => {
  let batches = 0;
  const DB = databaseWithHook(async (statements) => {
    // A batch with one statement only records that the token was used.
    if (statements > 1 && ++batches === writing) await meanwhile();
  });
  return callDeployedWith({ DB });
};

/** Lets another caller change the record meanwhile. */
export const overtaken =
  (method: string, noun: string, body?: unknown, rest = "", change: unknown = { name: "changed meanwhile" }): Provoke =>
  ({ admin, ids }) => {
    const path = `${noun}/${ids[noun]}`;
    return between(() => call(admin, "PUT", path, change))(admin, method, path + rest, body);
  };

/** Stores a connection token that cannot be opened. */
export const withBrokenToken =
  (method: string, rest: string, body?: unknown): Provoke =>
  async ({ admin, ids }) => {
    const id = ids["/connection"] ?? "";
    await env.DB.prepare("UPDATE connection SET auth = 'token', sealed = 'broken' WHERE id = ?").bind(id).run();
    return call(admin, method, `/connection/${id}${rest}`, body);
  };

/** Sets the organization's limit for these records to 0. */
export const without =
  (what: keyof typeof ORGANIZATION_LIMITS, provoke: Provoke): Provoke =>
  async (at) => {
    await call(env.OPERATOR_TOKEN ?? "", "PATCH", `/organization/${at.orgId}`, { limits: { [what]: 0 } });
    return provoke(at);
  };

export const byOperator =
  (method: string, path: string, body?: unknown): Provoke =>
  () =>
    call(env.OPERATOR_TOKEN ?? "", method, path, body);

/** Creates the same record twice. */
export const twice =
  (path: string, body: (at: FilledOrganization) => unknown): Provoke =>
  async (at) => {
    await create(at.admin, path, body(at));
    return call(at.admin, "POST", path, body(at));
  };

/** Gives a record another record's name. */
export const takes =
  (noun: string, other: (at: FilledOrganization) => Promise<unknown>, change: unknown): Provoke =>
  async (at) => {
    await other(at);
    return call(at.admin, "PUT", `${noun}/${at.ids[noun]}`, change);
  };

/** Acts as the agent on its build, after the steps in `before`. */
export const asAgent =
  (
    rest: string,
    body: unknown,
    before: (job: Job, at: FilledOrganization) => Promise<unknown>,
    method = "POST",
    noun = "/build",
  ): Provoke =>
  async (at) => {
    const { body: job } = await pollOnce(at.agent);
    await before(job, at);
    return call(at.agent.token, method, `${noun}/${job.build.id}/${rest}`, body, { "X-Lease": String(job.lease) });
  };

export const nothing = async () => {};
export const start = ({ build, lease }: Job, { agent }: FilledOrganization) =>
  call(agent.token, "POST", `/build/${build.id}/start`, undefined, { "X-Lease": String(lease) });
export const finishAs = (status: string) => async (job: Job, at: FilledOrganization) => {
  await start(job, at);
  const headers = { "X-Lease": String(job.lease) };
  await call(at.agent.token, "POST", `/build/${job.build.id}/finish`, { status }, headers);
};
export const cancel = ({ build }: Pick<Job, "build">, { admin }: FilledOrganization) =>
  call(admin, "POST", `/build/${build.id}/cancel`);

/** Sends a lease that the agent never had. */
export const withoutLease =
  (rest: string, body?: unknown, method = "POST", noun = "/build"): Provoke =>
  ({ agent, ids }) =>
    call(agent.token, method, `${noun}/${ids[noun]}/${rest}`, body, { "X-Lease": "1" });

/** Sets a pool limit to 0 during one request. */
export const limited =
  (limit: keyof typeof LIMITS, provoke: Provoke): Provoke =>
  async (at) => {
    const before = LIMITS[limit];
    Object.assign(LIMITS, { [limit]: 0 });
    return provoke(at).finally(() => Object.assign(LIMITS, { [limit]: before }));
  };
