import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { saveIdentity } from "../../src/agent/cli/identity.ts";
import { FEATURES_HEADER, type Job } from "../../src/protocol/jobs.ts";
import { runAgentCli } from "./support/agent-cli.ts";
import { type FakeService, IDENTITY, makeJob, startFakeService } from "./support/fake-service.ts";
import { testFolder } from "./support/folder.ts";
import { testRepository } from "./support/repository.ts";
import type { StubResponse } from "./support/stub-server.ts";

const SECRET = "s3cr3t-of-the-mill";
const HANDED = { env: { KEY: SECRET, PLAIN: "wheel" }, secretKeys: ["KEY"], runKeys: [] };
const STEPS = 'steps:\n  - run: echo "$PLAIN $KEY"\n';

/** Builds what the service handed out without an environment. `answer` replaces the answer to the agent's question. */
const build = async (file: string, { answer, ...change }: Partial<Job> & { answer?: StubResponse } = {}) => {
  const service: FakeService = await startFakeService();
  onTestFinished(() => service.close());
  const state = join(testFolder(), "state");
  saveIdentity(state, { ...IDENTITY, url: service.url });
  const repository = testRepository({ ".millrace.yml": file });
  const job = makeJob(repository.cloneUrl, 1, { needsEnvironment: true, ...change });
  service.environment = HANDED;
  service.jobs.push(job);
  service.intercept = ({ path }) => (answer && path.endsWith("/environment") ? answer : null);
  await runAgentCli(["start", "--once", "--grace", "1", "--state", state]).ended;
  const verbs = service.requests.map(({ path }) => path.split("/").at(-1) ?? "");
  const asked = service.requests.filter(({ path }) => path === `/build/${job.build.id}/environment`);
  return {
    service,
    verbs,
    head: repository.git("rev-parse", "HEAD"),
    asked: asked.map(({ body }) => JSON.parse(body.toString())),
    lease: asked[0]?.headers["x-lease"],
    log: service.logs.get(job.build.id) ?? "",
    results: service.results.map(({ kind, body }) => ({ kind, ...body })),
  };
};

describe("a build without its environment", () => {
  it("asks for it once its file was read, and reports the commit by that", async () => {
    const { asked, log, results, head, service, verbs, lease } = await build(STEPS);
    expect({ asked, lease }).toEqual({ asked: [{ commitSha: head }], lease: "1001" });
    expect(results).toMatchObject([{ kind: "finish", status: "succeeded" }]);
    expect(log).toContain("\nwheel ***\n");
    expect(service.progress.every((report) => !("commitSha" in report))).toBe(true);
    expect(verbs.indexOf("environment")).toBeLessThan(verbs.indexOf("progress"));
    expect(JSON.stringify(service.requests.map(({ body }) => body.toString()))).not.toContain(SECRET);
    const poll = service.requests.find(({ path }) => path.endsWith("/poll"));
    expect(poll?.headers[FEATURES_HEADER.toLowerCase()]).toBe("environment,jobs");
  });

  it("says what it is compared with", async () => {
    const file = `${STEPS}  - run: echo "changed \${{ changed('src/**') }}"\n`;
    const sha = "1".repeat(40);
    const { asked, head } = await build(file, { base: { sha } });
    expect(asked).toEqual([{ commitSha: head, base: sha }]);
  });

  it.each([
    ["has a mistake", "steps:\n  - rum: x\n", {}, { kind: "finish", reason: "pipeline-invalid" }],
    ["requires another agent", `requires: { ios: true }\n${STEPS}`, {}, { kind: "release", requires: { ios: true } }],
    ["was only to be read", STEPS, { purpose: "read-file" as const }, { kind: "finish", reason: "skipped" }],
  ])("never asks for it where the file %s", async (_, file, change, result) => {
    const { asked, results, service, head } = await build(file, change);
    expect({ asked, results }).toMatchObject({ asked: [], results: [result] });
    expect(service.progress[0]).toMatchObject({ commitSha: head });
  });

  const problem = (status: number, detail: string): StubResponse => ({
    status,
    body: { type: "/problems/x", title: "No", status, detail, requestId: "r" },
  });
  it.each([
    [
      "cannot be composed",
      problem(422, "the secret KEY cannot be opened"),
      [{ kind: "finish", status: "failed", reason: "environment", message: expect.stringContaining("KEY cannot be") }],
    ],
    ["is not known of any more", problem(404, "no"), [{ kind: "release", interrupted: true }]],
    ["comes too late", problem(409, "lost"), []],
  ])("runs nothing when it %s", async (_, answer, expected) => {
    const { results, log } = await build(STEPS, { answer });
    expect(results).toMatchObject(expected);
    expect(log).not.toContain("wheel");
  });
});
