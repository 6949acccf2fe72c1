import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { FEATURES, FEATURES_HEADER, type Job } from "../../../src/protocol/jobs.ts";
import { makeJob } from "../support/fake-service.ts";
import { testRepository } from "../support/repository.ts";
import { useRunningAgent } from "../support/running-agent.ts";
import type { StubResponse } from "../support/stub-server.ts";
import { waitUntil } from "../support/wait-until.ts";
import { WAYS } from "../support/ways.ts";

const SECRET = "s3cr3t-of-the-mill";
const HANDED = { env: { KEY: SECRET, PLAIN: "wheel" }, secretKeys: ["KEY"], runKeys: [] };
const STEPS = 'steps:\n  - run: echo "$PLAIN $KEY"\n';
const FIRST = { name: 'echo "$PLAIN $KEY"', status: "running", startedAt: expect.any(String), logOffset: null };

const agent = useRunningAgent();
let number = 1;

const jobFor = (file: string, change: Partial<Job> = {}) => {
  const repository = testRepository({ ".millrace.yml": file });
  const job = makeJob(repository.cloneUrl, number++, { needsEnvironment: true, ...change });
  return { job, head: repository.git("rev-parse", "HEAD") };
};

/** Builds a job whose message has no environment. `answer` replaces the service's answer when the agent requests it. */
const build = async (file: string, { answer, ...change }: Partial<Job> & { answer?: StubResponse } = {}) => {
  const { job, head } = jobFor(file, change);
  const service = agent.service();
  service.environment = HANDED;
  service.intercept = ({ path }) => (answer && path.endsWith("/environment") ? answer : null);
  const { requests, ...done } = await agent.take(job);
  const sent = (verb: string) => requests.filter(({ path }) => path.endsWith(`/${verb}`));
  return {
    ...done,
    head,
    verbs: requests.map(({ path }) => path.split("/").at(-1) ?? ""),
    asked: sent("environment").map(({ body }) => JSON.parse(body.toString())),
    progress: sent("progress").map(({ body }) => JSON.parse(body.toString())),
    lease: sent("environment")[0]?.headers["x-lease"],
    number: job.lease,
  };
};

describe("a build without its environment", () => {
  it("requests it after reading the file, and reports the commit and the steps in that request", async () => {
    const { asked, log, result, head, verbs, progress, lease, number } = await build(STEPS);
    const service = agent.service();
    expect({ asked, lease }).toMatchObject({ asked: [{ commitSha: head, steps: [FIRST] }], lease: String(number) });
    expect(result).toMatchObject({ status: "succeeded" });
    expect(log).toContain("\nwheel ***\n");
    expect(progress.filter((report) => "commitSha" in report)).toEqual([]);
    expect(verbs.indexOf("environment")).toBeLessThan(verbs.indexOf("progress"));
    expect(JSON.stringify(service.requests.map(({ body }) => body.toString()))).not.toContain(SECRET);
    const poll = service.requests.find(({ path }) => path.endsWith("/poll"));
    expect(poll?.headers[FEATURES_HEADER.toLowerCase()]).toBe(FEATURES.join());
  });

  it("reports the base of its comparison", async () => {
    const file = `${STEPS}  - run: echo "changed \${{ changed('src/**') }}"\n`;
    const sha = "1".repeat(40);
    const { asked, head } = await build(file, { base: { sha } });
    expect(asked).toMatchObject([{ commitSha: head, base: sha, steps: [FIRST, { status: "pending" }] }]);
  });

  it("does not report its first step as running if a condition may skip it", async () => {
    const { asked } = await build("steps:\n  - { run: echo a, if: failure() }\n  - run: echo b\n");
    expect(asked[0].steps).toMatchObject([
      { name: "echo a", status: "pending", startedAt: null },
      { name: "echo b", status: "pending" },
    ]);
  });

  it.each([
    ["has a mistake", "steps:\n  - rum: x\n", {}, { kind: "finish", reason: "pipeline-invalid" }],
    ["requires another agent", `requires: { ios: true }\n${STEPS}`, {}, { kind: "release", requires: { ios: true } }],
    ["was only to be read", STEPS, { purpose: "read-file" as const }, { kind: "finish", reason: "skipped" }],
  ])("never requests it if the file %s", async (_, file, change, result) => {
    const { asked, kind, progress, head, ...done } = await build(file, change);
    expect({ asked, kind, ...done.result }).toMatchObject({ asked: [], ...result });
    expect(progress[0]).toMatchObject({ commitSha: head });
  });

  const problem = (status: number, detail: string): StubResponse => ({
    status,
    body: { type: "/problems/x", title: "No", status, detail, requestId: "r" },
  });
  it.each([
    ["cannot compose it", problem(422, "the secret KEY cannot be opened")],
    ["no longer has the build", problem(404, "no")],
  ])("runs nothing when the service %s", async (_, answer) => {
    const { kind, result, log } = await build(STEPS, { answer });
    expect({ kind, ...result }).toMatchObject({ kind: "finish", reason: "environment" });
    expect(log).not.toContain("wheel");
  });

  it("fails if the concurrent checkout fails, and runs no step before the checkout ends", async () => {
    const stuck = createServer();
    await new Promise<void>((resolve) => stuck.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void stuck.close());
    const { port } = stuck.address() as AddressInfo;
    const repository = testRepository({
      ".millrace.yml": `checkout: { submodules: true }\n${STEPS}`,
      ".gitmodules": `[submodule "a"]\n\tpath = a\n\turl = http://127.0.0.1:${port}/a.git\n`,
    });
    repository.git("update-index", "--add", "--cacheinfo", `160000,${repository.git("rev-parse", "HEAD")},a`);
    repository.git("commit", "--quiet", "--message", "submodule");
    const isPending = ({ path, body }: { path: string; body: Buffer }) =>
      path.endsWith("/progress") && JSON.parse(body.toString()).steps?.[0].status === "pending";
    agent.service().intercept = (request) => {
      if (isPending(request)) stuck.close().closeAllConnections();
      return null;
    };
    const cloneUrl = await WAYS["plain files"](repository);
    const { result, log, requests } = await agent.take(makeJob(cloneUrl, number++, { needsEnvironment: true }));
    expect(result).toMatchObject({
      reason: "checkout-failed",
      message: expect.stringContaining("git submodule failed"),
    });
    expect(log).not.toContain("wheel");
    expect(requests.filter(isPending)).toHaveLength(1);
  });

  it("is dropped if the lease is lost meanwhile", async () => {
    const { job } = jobFor(STEPS);
    const service = agent.service();
    service.intercept = ({ path }) => (path.endsWith("/environment") ? problem(409, "lost") : null);
    service.jobs.push(job);
    service.hint({ type: "look" });
    await waitUntil(() => agent.heardOf(job.build.id).requests.some(({ path }) => path.endsWith("/environment")));
    expect((await build(STEPS)).result).toMatchObject({ status: "succeeded" });
    expect(agent.heardOf(job.build.id)).toMatchObject({ result: undefined });
    expect(agent.heardOf(job.build.id).log).not.toContain("wheel");
  });
});
