import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { waitForEnd } from "../../src/local/demo.ts";
import type { Build } from "../../src/protocol/build.ts";
import { type RunningAgent, startAgent } from "../support/local/agent.ts";
import type { BareRepository } from "../support/local/git-host/bare-repository.ts";
import { TestGitHost } from "../support/local/git-host/git-host.ts";
import { startLocalService } from "../support/local/service.ts";
import { type HostedStage, Project, type Stage, see } from "./git-hosts/stage.ts";

/* The service, a real agent for strangers' code and another for all other code, real git, and a GitHub on loopback. */

const stage = { projects: [] } as unknown as Stage & HostedStage;
const agents: RunningAgent[] = [];

beforeAll(async () => {
  stage.service = await startLocalService();
  const { folder } = stage.service;
  stage.client = await stage.service.newOrganization("acme");
  stage.host = await TestGitHost.start("github", folder);
  const { url, secrets } = stage.host;
  stage.connection = await stage.client.call("POST", "/connection", {
    ...{ kind: "github", name: "GitHub", webUrl: url, token: secrets.token },
  });
  agents.push(await startAgent(stage.client, folder, "trusted"));
  agents.push(await startAgent(stage.client, folder, "strangers", { labels: ["untrusted"] }));
});
afterAll(async () => {
  for (const project of stage.projects) project.letGo();
  await Promise.all(agents.map((agent) => agent.stop()));
  await stage.host?.close();
  await stage.service?.remove();
});

/**
 * Searches for every secret of the test in all data that a step can read, and in the service's answers to a caller who
 * knows the build and guesses. Prints the number of kinds that it found.
 */
const SEARCH = `cache: [{ name: deps, key: deps, path: deps }]
steps:
  - run: |
      found() { grep -aEohs 'canary[-][0-9a-f]{32}' "$@" || true; }
      ask() { curl -s --max-time 20 -o "$TMPDIR/answer.$((n += 1))" -w '%{http_code}\\n' "$SERVICE$@" >> "$TMPDIR/asked"; }
      n=0; id=$MILLRACE_BUILD_ID
      for path in /build /build/$id /build/$id/log /build/$id/artifact /secrets/variables /repository /connection /buildagent
      do ask $path; ask $path -H "Authorization: Bearer $id"; ask $path -H "X-Lease: 1"; done
      for verb in environment start download cache artifact clone-token
      do ask /build/$id/$verb -X POST -H "X-Lease: 1" -d '{}'; ask /job/$id/$verb -X POST -H "Authorization: Bearer mra_1" -d '{}'; done
      ask /app/builds/$id; ask /hook/x -X POST -d '{}'; ask /operator/metrics
      echo "the service said: $(grep -v '^30' "$TMPDIR/asked" | sort -u | xargs) to $n requests"
      { env | found; found "$TMPDIR"/answer.*; found /proc/[0-9]*/environ /proc/[0-9]*/cmdline; found -r "$PWD" "$PWD/.." "$ELSEWHERE"; } |
        sort -u > "$TMPDIR/found"
      echo "secrets found: $(wc -l < "$TMPDIR/found"), by name: [\${{ secrets.CANARY }}], trusted: \${{ build.trusted }}"
      mkdir -p deps && echo "left by $MILLRACE_BUILD_ID" >> deps/left && cat deps/left
`;

const secret = () => `canary-${randomBytes(16).toString("hex")}`;

/** Creates a public project that builds pull requests from forks after approval. */
const openProject = async (name: string): Promise<Project> => {
  const project = await Project.connect(stage, name, { ".millrace.yml": SEARCH }, stage);
  const { client, host, service } = stage;
  host.publicIds.add(project.bare.id);
  const repoId = project.repository.id;
  await client.call("PUT", `/repository/${repoId}`, { forks: "approval" });
  const variables: [string, string, boolean][] = [
    ["CANARY", secret(), true],
    ["ELSEWHERE", service.folder, false],
    ["SERVICE", client.url, false],
  ];
  for (const [key, value, isSecret] of variables)
    await client.call("POST", "/secrets/variables", { key, value, isSecret, scope: "repository", repoId });
  await client.call("PUT", `/repository/${repoId}/credential`, { kind: "token", username: "b", value: secret() });
  return project;
};

const openFork = async (project: Project, name: string) => {
  const fork = project.host.addRepository(`stranger/${name}`);
  project.git.git("checkout", "--quiet", "-b", "gift");
  project.commit("Give it");
  await project.host.push(project.git, fork, "gift");
  return { fork, pull: await project.host.openPull(project.bare, "gift", fork) };
};

const pushFork = (project: Project, fork: BareRepository) => project.host.push(project.git, fork, "gift");

const read = (id: string) => stage.client.call<Build>("GET", `/build/${id}`);
const approve = (id: string) => stage.client.call<Build>("POST", `/build/${id}/approve`, { comment: "read it" });

describe("a fork's pull request", () => {
  it("waits, runs without secrets after its commit is approved, and waits again after a push", async () => {
    const project = await openProject("gifts");
    const { fork, pull } = await openFork(project, "gifts");
    const [held] = await project.seeBuilds(1);
    expect(held).toMatchObject({ status: "queued", trust: "untrusted", commitSha: pull.head });
    await project.seeLast(pull.head, "millrace/ci", "pending");
    expect((await read(held!.id)).waitsFor).toHaveLength(1);
    await approve(held!.id);
    const ended = await waitForEnd(stage.client, held!.id);
    expect(ended, await project.logOf(ended)).toMatchObject({ status: "succeeded", trust: "untrusted" });
    const found = await project.logOf(ended);
    expect(found).toContain("secrets found: 0, by name: [], trusted: false");
    expect(found).toMatch(/the service said: 401 404 405 to 39 requests/);
    expect(ended.environment?.map(({ key }) => key).sort()).toEqual(["ELSEWHERE", "GO", "SERVICE"]);
    await project.seeLast(pull.head, "millrace/ci", "success");
    await project.seeLast(pull.head, "millrace", "success");

    const next = project.commit("Give more");
    await pushFork(project, fork);
    const [, again] = await project.seeBuilds(2);
    expect(again).toMatchObject({ status: "queued", commitSha: next });
    const last = project.commit("Give even more");
    await pushFork(project, fork);
    const [, replaced, newest] = await project.seeBuilds(3);
    expect(replaced).toMatchObject({ status: "canceled", reason: "superseded" });
    await expect(approve(replaced!.id)).rejects.toThrow();
    expect(newest).toMatchObject({ status: "queued", commitSha: last });
    await approve(newest!.id);
    const second = await waitForEnd(stage.client, newest!.id);
    // The previous entry from the same pull request. The default branch has not saved one yet.
    expect(await project.logOf(second)).toContain(`left by ${held!.id}\nleft by ${newest!.id}`);

    project.git.git("checkout", "--quiet", "main");
    project.commit("Go on");
    await project.push("main");
    const [, , , trusted] = await project.seeEnds(4);
    const log = await project.logOf(trusted!);
    expect(trusted, log).toMatchObject({ trust: "trusted", status: "succeeded" });
    expect(log).toContain("secrets found: 1, by name: [***], trusted: true");
    expect(log).not.toContain(held!.id);
  });

  it("gets no protected group, agent or schedule that its file requests", async () => {
    const project = await openProject("greedy");
    const { client } = stage;
    const group = await client.call<{ id: string }>("POST", "/secrets/groups", { name: "release", protection: {} });
    await client.call("PUT", `/pipeline/${project.pipeline.id}`, { groupIds: [group.id] });
    const fork = project.host.addRepository("stranger/greedy");
    project.git.git("checkout", "--quiet", "-b", "$(touch${IFS}x)");
    const file = `on: { push: true, tag: true }
schedule: [{ name: mine, cron: '*/5 * * * *' }]
jobs:
  take: { groups: [release], steps: [{ run: env }] }
  mine: { requires: { labels: [special] }, if: always(), steps: [{ run: echo fine }] }
`;
    project.commit("Take it", { ".millrace.yml": file });
    await project.host.push(project.git, fork, "$(touch${IFS}x)");
    await project.host.openPull(project.bare, "$(touch${IFS}x)", fork);
    const [held] = await project.seeBuilds(1);
    await approve(held!.id);
    await see(async () => (await read(held!.id)).jobs?.find(({ key }) => key === "take")?.status, "failed");
    const { jobs } = await read(held!.id);
    expect(jobs).toMatchObject([{ key: "take", reason: "environment", gate: null }, { key: "mine" }]);
    expect(jobs?.[0]?.message).toContain("an untrusted build never gets it");
    // No agent has both labels.
    expect(jobs?.[1]?.status).toBe("queued");
    await client.call("POST", `/build/${held!.id}/cancel`);
    expect(await client.call("GET", `/schedule?pipelineId=${project.pipeline.id}`)).toEqual([]);
  });
});
