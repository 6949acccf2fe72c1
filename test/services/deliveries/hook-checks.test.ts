import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { gitHostName } from "../../../src/domain/durable-objects.ts";
import type { GitHostObject } from "../../../src/objects/host/git-host.ts";
import type { Build } from "../../../src/protocol/build.ts";
import { call } from "../../support/api.ts";
import { APP_ID, newAppConnection } from "../../support/app-connection.ts";
import { type BuildSetup, newBuildSetup, readBuild } from "../../support/build-setup.ts";
import { poolStub } from "../../support/deployment.ts";
import { attachRepository, deliver, eventHeaders, type StoredConnection } from "../../support/hooks.ts";
import { newPull, newPush, SHA } from "../../support/host-events.ts";
import { COMMIT, finishNextJob, jobStatuses, planNextBuild } from "../../support/jobs.ts";

const PEOPLE = { ann: "write", max: "maintain", root: "admin", ted: "triage", eve: "read" };
const GATED = `jobs:
  deploy: { gate: { message: "Release?" }, steps: [{ run: make }] }
  after: { needs: [deploy], steps: [{ run: make }] }
`;

let setup: BuildSetup;
let hook: StoredConnection;
let host: Awaited<ReturnType<typeof newAppConnection>>["host"];

beforeEach(async () => {
  setup = await newBuildSetup();
  ({ hook, host } = await newAppConnection(setup.orgId, { people: PEOPLE }));
  await attachRepository(setup.repository.id, hook);
});

const send = (event: string, body: object, delivery?: string) =>
  deliver(hook, eventHeaders("github", event, delivery), body);

const repository = { id: 1, full_name: "acme/app-1", default_branch: "main" };
const by = (login: string) => ({ repository, sender: { login } });

const rerun = (externalId: string, login = "ann", app = APP_ID) => ({
  ...{ action: "rerequested", ...by(login) },
  check_run: { head_sha: COMMIT, external_id: externalId, app: { id: app } },
});
const rerunAll = (login = "ann") => ({
  ...{ action: "rerequested", ...by(login) },
  check_suite: { head_sha: COMMIT, app: { id: APP_ID } },
});
const pressed = (externalId: string, identifier: string, login = "max") => ({
  ...rerun(externalId, login),
  ...{ action: "requested_action", requested_action: { identifier } },
});

/** Waits until the host's object has the pool's report about the commit. */
const seeTold = async (buildId: string, state?: string) => {
  const object = (env.GIT_HOST as DurableObjectNamespace<GitHostObject>).getByName(
    gitHostName(setup.orgId, hook.connectionId),
  );
  await vi.waitFor(
    async () => {
      const views = await object.statuses(1, COMMIT);
      expect(views).toContainEqual(expect.objectContaining({ buildId, ...(state && { state }) }));
    },
    { timeout: 10_000, interval: 50 },
  );
};

const newBuild = async (): Promise<string> => {
  const { body, text } = await send("push", newPush(COMMIT));
  expect(body.builds, text).toHaveLength(1);
  return body.builds[0]!;
};

const failedBuild = async (): Promise<string> => {
  const id = await newBuild();
  await finishNextJob(setup.agent, { status: "failed", exitCode: 1 });
  await seeTold(id, "failure");
  return id;
};

const builds = async () => (await call<Build[]>(setup.admin, "GET", "/build")).body;
const audited = async (action: string) => {
  await poolStub(setup.orgId).flush();
  const { body } = await call(setup.admin, "GET", `/audit?action=${action}`);
  return body.filter(({ detail }: { detail: { sender?: string } }) => detail.sender);
};

describe("a rerun at GitHub", () => {
  it("retries the check's build once, for a sender who may write at GitHub", async () => {
    const id = await failedBuild();
    const { status, body } = await send("check_run", rerun(id), "delivery-1");
    expect({ status, ignored: body.ignored }).toEqual({ status: 202, ignored: null });
    const again = await readBuild(setup.admin, body.builds[0]!);
    expect(again).toMatchObject({ retryOf: id, commitSha: COMMIT, event: "push", status: "queued" });
    expect(again.createdBy).toEqual({ kind: "connection", id: hook.connectionId, name: "our App" });
    expect((await send("check_run", rerun(id), "delivery-1")).status).toBe(202);
    expect(await builds()).toHaveLength(2);
    expect(await audited("build.create")).toMatchObject([{ detail: { sender: "ann" } }]);
    await seeTold(again.id);
    expect((await send("check_run", rerun(id))).body).toMatchObject({ builds: [], ignored: expect.any(String) });
  });

  it.each<[what: string, event: string, body: (id: string) => object, ignored: string | RegExp]>([
    ["of another App", "check_run", (id) => rerun(id, "ann", 4243), "the check belongs to another App"],
    ["of an unknown build", "check_run", () => rerun(crypto.randomUUID()), /not belong to the newest/],
    ["of a check without a build", "check_run", () => rerun(""), /not belong to the newest/],
    ["by a stranger", "check_run", (id) => rerun(id, "mallory"), /may not write/],
    ["by a reader", "check_run", (id) => rerun(id, "eve"), /may not write/],
    ["by a sender with the triage role", "check_run", (id) => rerun(id, "ted"), /may not write/],
    ["of the suite by a reader", "check_suite", () => rerunAll("eve"), /may not write/],
    ["that only reports a new check", "check_run", (id) => ({ ...rerun(id), action: "created" }), /requests nothing/],
    [
      "of another connection's repository",
      "check_run",
      (id) => ({ ...rerun(id), repository: { ...repository, id: 2 } }),
      /no active repository/,
    ],
  ])("%s creates no build", async (_, event, body, ignored) => {
    const id = await failedBuild();
    const { status, body: taken } = await send(event, body(id));
    expect(status).toBe(202);
    expect(taken).toMatchObject({ builds: [], ignored: expect.stringMatching(ignored) });
    expect(await builds()).toHaveLength(1);
  });

  it("of an active build creates no build", async () => {
    const id = await newBuild();
    await seeTold(id);
    expect((await send("check_run", rerun(id))).body).toMatchObject({
      builds: [],
      ignored: expect.stringMatching(/not ended/),
    });
  });

  it("of all checks retries the failed builds", async () => {
    const id = await failedBuild();
    const { body } = await send("check_suite", rerunAll(), "delivery-2");
    expect((await readBuild(setup.admin, body.builds[0]!)).retryOf).toBe(id);
    expect((await send("check_suite", rerunAll(), "delivery-2")).status).toBe(202);
    expect(await builds()).toHaveLength(2);
  });

  it("of the commit's overall check retries the failed builds", async () => {
    const id = await failedBuild();
    const { body } = await send("check_run", rerun("commit"));
    expect((await readBuild(setup.admin, body.builds[0]!)).retryOf).toBe(id);
  });

  it("is rejected temporarily while GitHub does not report permissions, and works when redelivered", async () => {
    const id = await failedBuild();
    await host.change({ faults: [{ on: "GET /repos/acme/app-1/collaborators", answer: 503, times: 1 }] });
    expect((await send("check_run", rerun(id), "delivery-4")).status).toBe(503);
    expect((await send("check_run", rerun(id), "delivery-4")).body.builds).toHaveLength(1);
  });
});

describe("a button at GitHub", () => {
  const gated = async (): Promise<string> => {
    await newBuild();
    const { buildId } = await planNextBuild(setup.agent, GATED);
    await seeTold(buildId, "success");
    return buildId;
  };

  it("approves its gate once, under the sender's name", async () => {
    const id = await gated();
    expect((await send("check_run", pressed(id, "approve:0", "ann"))).body).toMatchObject({
      ...{ builds: [], ignored: "This requires the role maintainer." },
    });
    const { body } = await send("check_run", pressed(id, "approve:0"), "delivery-5");
    expect(body).toEqual({ delivery: "delivery-5", builds: [id], ignored: null });
    expect((await send("check_run", pressed(id, "approve:0"), "delivery-5")).body).toEqual(body);
    const build = await readBuild(setup.admin, id);
    expect(build.waitsFor).toEqual([]);
    expect(jobStatuses(build)).toMatchObject({ deploy: "queued" });
    expect(await audited("job.approve")).toMatchObject([{ detail: { key: "deploy", sender: "max" } }]);
  });

  it.each(["approve:1", "approve:7", "approve:-1", "approve:", "reject:0", "constructor"])(
    "named %s approves nothing",
    async (name) => {
      const id = await gated();
      const { status, body } = await send("check_run", pressed(id, name));
      expect({ status, builds: body.builds }).toEqual({ status: 202, builds: [] });
      expect((await readBuild(setup.admin, id)).waitsFor).toHaveLength(1);
    },
  );

  it("approves only this commit of a fork, for a sender who may write at GitHub", async () => {
    await call(setup.admin, "PUT", `/repository/${setup.repository.id}`, { forks: "approval" });
    const told = newPull("opened", COMMIT, { forkOf: 9, author: "mallory", sender: "mallory" });
    const { body } = await send("pull_request", told);
    const id: string = body.builds[0]!;
    await seeTold(id, "pending");
    const button = "approve:9999";
    for (const login of ["mallory", "eve", "ted"]) {
      const refused = await send("check_run", pressed(id, button, login));
      expect(refused.body).toMatchObject({ builds: [], ignored: expect.stringMatching(/may not write/) });
    }
    const elsewhere = pressed(id, button, "ann");
    const other = { ...elsewhere, check_run: { ...elsewhere.check_run, head_sha: SHA("d") } };
    expect((await send("check_run", other)).body).toMatchObject({ builds: [], ignored: expect.any(String) });
    expect((await readBuild(setup.admin, id)).waitsFor).toHaveLength(1);
    expect((await send("check_run", pressed(id, button, "ann"), "delivery-7")).body.builds).toEqual([id]);
    expect(await readBuild(setup.admin, id)).toMatchObject({
      ...{ status: "queued", trust: "untrusted", waitsFor: [] },
      approval: { decision: { approved: true, by: "ann" } },
    });
    expect(await audited("job.approve")).toMatchObject([{ detail: { sender: "ann" } }]);
  });

  it("has no effect when a person redelivers it here", async () => {
    const id = await gated();
    await send("check_run", pressed(id, "approve:0", "eve"), "delivery-6");
    const path = `/connection/${hook.connectionId}/delivery/delivery-6/redeliver`;
    const { status, body } = await call(setup.admin, "POST", path);
    expect({ status, builds: body.builds }).toEqual({ status: 200, builds: [] });
    expect((await readBuild(setup.admin, id)).waitsFor).toHaveLength(1);
  });
});

it.each([
  ["installation", "suspend"],
  ["installation", "deleted"],
  ["installation_repositories", "added"],
  ["github_app_authorization", "revoked"],
])("GitHub's event about the App itself (%s, %s) is accepted, and creates no build", async (event, action) => {
  const told = { action, installation: { id: 99, account: { login: "acme" } }, sender: { login: "max" } };
  const { status, body } = await send(event, told);
  expect(status).toBe(202);
  expect(body).toMatchObject({ builds: [], ignored: expect.stringMatching(/triggers no build/) });
  expect(await builds()).toEqual([]);
});
