import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { waitForEnd } from "../../src/local/demo.ts";
import type { Build } from "../../src/protocol/build.ts";
import { newAppKeys } from "../support/app-keys.ts";
import { type RunningAgent, startAgent } from "../support/local/agent.ts";
import { deliver, newDelivery } from "../support/local/git-host/deliveries.ts";
import { TestGitHost } from "../support/local/git-host/git-host.ts";
import { startLocalService } from "../support/local/service.ts";
import { type HostedStage, Project, type Stage, see } from "./git-hosts/stage.ts";

/* The service, a real agent, real git, and a GitHub on loopback whose App shows builds as check runs. */

const APP_ID = 4242;
const FILE = `jobs:
  test: { steps: [{ run: 'echo "## All is well" >> "$MILLRACE_SUMMARY"' }] }
  deploy: { needs: [test], gate: { message: "Release?" }, steps: [{ run: echo released }] }
`;

const stage = { projects: [] } as unknown as Stage & HostedStage;
let agent: RunningAgent;
let hook: { url: string; secret: string };

beforeAll(async () => {
  stage.service = await startLocalService();
  const { folder } = stage.service;
  stage.client = await stage.service.newOrganization("acme");
  stage.host = await TestGitHost.start("github", folder);
  const { key, publicKey } = newAppKeys();
  const app = { id: APP_ID, clientId: "Iv23client", publicKey, installationId: 99, account: "acme" };
  Object.assign(stage.host.api.settings, { app, people: { max: "maintain", eve: "read" } });
  stage.connection = await stage.client.call("POST", "/connection", {
    ...{ kind: "github", name: "GitHub", webUrl: stage.host.url },
    app: { id: String(APP_ID), privateKey: key },
  });
  await stage.client.call("POST", `/connection/${stage.connection.id}/installation`);
  hook = await stage.client.call("GET", `/connection/${stage.connection.id}/hook`);
  agent = await startAgent(stage.client, folder, "one");
});
afterAll(async () => {
  await agent?.stop();
  await stage.host?.close();
  await stage.service?.remove();
});

/** Sends GitHub's event for a repository, and returns the answer. */
const send = async ({ bare }: Project, name: string, body: object) => {
  const to = stage.host.api.place.hooks.find(({ repositoryId }) => repositoryId === bare.id);
  const repository = { id: bare.id, full_name: bare.fullName, default_branch: "main" };
  const delivery = newDelivery(to!, { name, body: { repository, ...body } });
  await deliver("github", delivery);
  return JSON.parse(delivery.answer) as { builds: string[]; ignored: string | null };
};

describe("a push to an App's repository", () => {
  let project: Project;
  let sha: string;
  let build: Build;

  const check = (action: string, by: string, more: object = {}) =>
    send(project, "check_run", {
      ...{ action, sender: { login: by }, ...more },
      check_run: { head_sha: sha, external_id: build.id, app: { id: APP_ID } },
    });
  const runOf = (name: string, buildId?: string) =>
    stage.host.api.place.checkRuns.find(
      (run) => run.sha === sha && run.body.name === name && (buildId ?? run.body.external_id) === run.body.external_id,
    );
  const conclusionOf = (name: string) => () => runOf(name)?.body.conclusion;

  beforeAll(async () => {
    project = await Project.connect(stage, "shop", { ".millrace.yml": FILE }, stage);
    stage.host.addHook(project.bare, hook);
    sha = project.commit("Mend the sluice");
    await project.push("main");
    [build] = (await project.seeBuilds(1)) as [Build];
  });

  it("requests an action in its check run as soon as it waits only for people", async () => {
    await see(conclusionOf("millrace/ci"), "action_required");
    const { body } = runOf("millrace/ci")!;
    expect(body).toMatchObject({ external_id: build.id, actions: [{ label: "Approve" }] });
  });

  it("can be approved there by authorized people, and shows its result with the build's summary", async () => {
    const [action] = runOf("millrace/ci")!.body.actions as [{ identifier: string }];
    const pressed = { requested_action: { identifier: action.identifier } };
    expect((await check("requested_action", "eve", pressed)).builds).toEqual([]);
    expect((await check("requested_action", "max", pressed)).builds).toEqual([build.id]);
    expect((await waitForEnd(stage.client, build.id)).status).toBe("succeeded");
    await see(conclusionOf("millrace/ci"), "success");
    const { output } = runOf("millrace/ci")!.body as { output: { title: string; summary: string } };
    expect(output.title).toMatch(/^Succeeded in/);
    expect(output.summary).toContain("## All is well");
    await see(conclusionOf("millrace"), "success");
    expect(stage.host.api.place.statuses).toEqual([]);
  });

  it("can be rebuilt from there, with a new check run", async () => {
    const { builds } = await check("rerequested", "max");
    const again = await stage.client.call<Build>("GET", `/build/${builds[0]}`);
    expect(again).toMatchObject({ retryOf: build.id, commitSha: sha });
    await see(() => runOf("millrace/ci", again.id)?.body.conclusion, "action_required");
    await stage.client.call("POST", `/build/${again.id}/reject`);
    await see(() => runOf("millrace/ci", again.id)?.body.status, "completed");
    expect(runOf("millrace/ci", build.id)?.body.conclusion).toBe("success");
  });
});

describe("a merge queue", () => {
  const FOR_QUEUE = `steps: [{ run: 'echo "event=$MILLRACE_EVENT"; while [ ! -e "$GO/$MILLRACE_COMMIT" ]; do sleep 0.05; done' }]
`;
  let project: Project;

  /** Creates main as it would be after the next pull request, as GitHub does, and sends the event. */
  const queue = async (pull: number) => {
    const branch = `gh-readonly-queue/main/pr-${pull}-0a1b`;
    project.git.git("checkout", "--quiet", "-b", branch, "main");
    const head = project.commit(`Merge ${pull}`);
    await project.push(branch);
    const group = { head_ref: `refs/heads/${branch}`, head_sha: head, base_ref: "refs/heads/main", base_sha: null };
    const tell = (action: string) => send(project, "merge_group", { action, merge_group: group });
    const conclusion = () =>
      stage.host.api.place.checkRuns.find(({ sha, body }) => sha === head && body.name === "millrace/ci")?.body
        .conclusion;
    const { builds, ignored } = await tell("checks_requested");
    expect(builds, ignored ?? "").toHaveLength(1);
    return { head, tell, conclusion, buildId: builds[0]! };
  };

  beforeAll(async () => {
    project = await Project.connect(stage, "queued", { ".millrace.yml": FOR_QUEUE }, stage);
    await stage.client.call("PUT", `/pipeline/${project.pipeline.id}`, { on: { "merge-group": true } });
    stage.host.addHook(project.bare, hook);
  });

  it("gets its entries built by the agent, and sees the result at the commit", async () => {
    const { head, conclusion, buildId } = await queue(7);
    project.letGo(head);
    const build = await waitForEnd(stage.client, buildId);
    expect(build, await project.logOf(build)).toMatchObject({
      ...{ status: "succeeded", event: "merge-group", commitSha: head, trust: "trusted" },
    });
    expect(await project.logOf(build)).toContain("event=merge-group");
    await see(conclusion, "success");
  });

  it("ends the build of an entry that it drops", async () => {
    const { tell, conclusion, buildId } = await queue(8);
    const read = () => stage.client.call<Build>("GET", `/build/${buildId}`);
    await see(async () => (await read()).status, "running");
    await tell("destroyed");
    expect(await waitForEnd(stage.client, buildId)).toMatchObject({ status: "canceled" });
    await see(conclusion, "cancelled");
  });
});

describe("all these requests", () => {
  it("match GitHub's API description, and run one at a time", () => {
    const { requests } = stage.host.api;
    expect(requests.flatMap(({ problems }) => problems)).toEqual([]);
    expect(requests.filter(({ path }) => path.includes("/check-runs")).length).toBeGreaterThan(4);
  });
});
