import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { saveIdentity } from "../../../src/agent/cli/identity.ts";
import type { Job } from "../../../src/protocol/jobs.ts";
import { runAgentCli } from "../support/agent-cli.ts";
import { type FakeService, IDENTITY, makeJob, makePlannedJob, startFakeService } from "../support/fake-service.ts";
import { testRepository } from "../support/repository.ts";
import type { StubResponse } from "../support/stub-server.ts";
import { waitUntil } from "../support/wait-until.ts";

const FILE = `jobs:
  lint:
    if: changed('src/**')
    steps: [{ run: echo linted }]
  docs:
    if: changed('docs/**')
    needs: [lint]
    steps: [{ run: echo never }]
`;

const stage = async (isEphemeral = false) => {
  const service: FakeService = await startFakeService();
  const state = mkdtempSync(join(tmpdir(), "millrace-plan-"));
  onTestFinished(async () => {
    rmSync(state, { recursive: true, force: true });
    await service.close();
  });
  saveIdentity(state, { ...IDENTITY, url: service.url, isEphemeral });
  return { service, start: (...more: string[]) => runAgentCli(["start", "--grace", "1", "--state", state, ...more]) };
};

/** A plan to try. The agent plans a repository whose second commit changed `src`, and then runs one of its jobs. */
type Planned = Partial<Job> & { text?: string; committed?: Record<string, string>; answer?: StubResponse };
const plan = async ({ text = FILE, committed = {}, answer, ...change }: Planned) => {
  const { service, start } = await stage();
  const repository = testRepository({ ".millrace.yml": text, "src/a.ts": "1", ...committed });
  const base = repository.git("rev-parse", "HEAD");
  const head = repository.commit({ "src/a.ts": "2" });
  const root = makeJob(repository.cloneUrl, 1, { needsEnvironment: true, ...change });
  const one = makePlannedJob(repository.cloneUrl, 2, { text, key: "lint", definition: "lint" });
  service.planned = ["lint", "docs"];
  service.jobs.push({ ...root, ...(change.base ? { base: { sha: base } } : {}) }, one);
  service.intercept = ({ path }) => (answer && path.endsWith("/plan") ? answer : null);
  const { code } = await start("--once").ended;
  const rootId = root.build.id;
  return {
    service,
    code,
    head,
    base,
    plans: service.plans,
    ofRoot: service.results
      .filter(({ buildId }) => buildId === rootId)
      .map(({ kind, body }): Record<string, unknown> => ({ kind, ...body })),
    ofJob: service.results.filter(({ buildId }) => buildId === one.job?.id).map(({ body }) => body),
    log: service.logs.get(rootId) ?? "",
    asked: service.requests.filter(({ path }) => path.endsWith("/environment")).length,
  };
};

describe("a file with jobs", () => {
  it("is sent for planning, and its jobs run as the agent's one build", async () => {
    const { plans, ofRoot, ofJob, log, head, base, asked, code } = await plan({ base: { sha: "" } });
    const [{ changed = {}, ...sent } = {}] = plans;
    expect(sent).toEqual({ commitSha: head, path: ".millrace.yml", text: FILE, base });
    expect(Object.values(changed)).toEqual([true, false]);
    expect({ ofRoot, asked, code }).toEqual({ ofRoot: [], asked: 0, code: 0 });
    expect(log).toContain("--- Plan of the jobs in .millrace.yml\nplanned 2 jobs:\n  lint\n  docs\n");
    expect(log).not.toMatch(/linted|never/);
    expect(ofJob).toMatchObject([{ status: "succeeded" }]);
  });

  it("counts everything as changed without a base for a comparison", async () => {
    const { plans } = await plan({});
    expect(Object.values(plans[0]?.changed ?? {})).toEqual([true, true]);
    expect(plans[0]).not.toHaveProperty("base");
  });

  it("is sent for planning if its steps require groups", async () => {
    const text = "groups: [release]\nsteps: [{ run: echo never }]\n";
    const { plans, ofRoot, log } = await plan({ text });
    expect(plans).toMatchObject([{ text }]);
    expect(ofRoot).toEqual([]);
    expect(log).not.toMatch(/^never$/m);
  });

  it("is sent with all its includes, which may use changed()", async () => {
    const text = "jobs: { lint: { steps: [{ include: ./ci/a.yml }] } }\n";
    const files = {
      "ci/a.yml": "steps: [{ include: ./b.yml }]\n",
      "b.yml": "steps: [{ if: changed('src/**'), run: x }]\n",
      "unused.yml": "",
    };
    const { plans, base, log } = await plan({ text, committed: files, base: { sha: "" } });
    const includes = ["b.yml", "ci/a.yml"].map((path) => ({ path, text: files[path as keyof typeof files] }));
    expect(plans).toMatchObject([{ text, base, includes }]);
    expect(log).toContain(`compared with ${base}: changed files: 1\n`);
  });

  it("from the pipeline's record is planned with the build's commit", async () => {
    const pipeline = { name: "main", configPath: ".millrace.yml", definition: FILE };
    const { plans, head } = await plan({ text: "not: [read", pipeline });
    expect(plans).toMatchObject([{ text: FILE, commitSha: head }]);
  });

  it("reports its mistakes without a call", async () => {
    const { plans, ofRoot, log } = await plan({ text: "jobs:\n  a:\n    steps: [{ rum: x }]\n" });
    expect({ plans, ofRoot }).toMatchObject({ plans: [], ofRoot: [{ status: "failed", reason: "pipeline-invalid" }] });
    expect(log).toContain(".millrace.yml:3:");
  });

  const problem = (status: number, detail: string, ...errors: string[]): StubResponse => ({
    status,
    body: {
      ...{ type: "/problems/x", title: "No", status, detail, requestId: "r" },
      errors: errors.map((error) => ({ pointer: "/text", detail: error })),
    },
  });
  const lines = ["2:3: one", "3:3: two"];
  it.each([
    [
      "has mistakes",
      problem(422, "see errors", ...lines),
      "pipeline-invalid",
      ".millrace.yml:2:3: one\n.millrace.yml:3:3: two",
    ],
    ["is too large", problem(413, "too large"), "pipeline-invalid", "too large for the service to plan"],
    ["is rejected", problem(403, "no such thing"), "agent-error", "no such thing"],
  ])("fails the build when it %s", async (_, answer, reason, message) => {
    const { ofRoot, log } = await plan({ answer });
    expect(ofRoot).toMatchObject([{ kind: "finish", status: "failed", reason }]);
    expect(ofRoot[0]?.message).toContain(message);
    expect(log).toContain(message);
  });

  it("has no result when the lease was lost", async () => {
    const { ofRoot, code } = await plan({ answer: problem(409, "lost") });
    expect({ ofRoot, code }).toEqual({ ofRoot: [], code: 0 });
  });

  it("is planned without a warning, even if a report of its commit arrives after the lease ended", async () => {
    const { service, start } = await stage();
    const repository = testRepository({ ".millrace.yml": FILE });
    service.jobs.push(makeJob(repository.cloneUrl, 1, { needsEnvironment: true }));
    service.jobs.push(makePlannedJob(repository.cloneUrl, 2, { text: FILE, definition: "lint" }));
    let refused = 0;
    service.intercept = async ({ path }) => {
      if (path.endsWith("/plan")) await waitUntil(() => refused > 0);
      if (!path.endsWith("/progress") || service.plans.length > 0) return null;
      refused++;
      return problem(409, "another agent holds it; drop the build and poll again");
    };
    const { code, stderr } = await start("--once").ended;
    expect({ code, refused, plans: service.plans.length }).toEqual({ code: 0, refused: 1, plans: 1 });
    expect(stderr).not.toContain("warn: ");
  });

  it("is resent while the service is unavailable", async () => {
    const { service, start } = await stage();
    const repository = testRepository({ ".millrace.yml": FILE });
    service.jobs.push(makeJob(repository.cloneUrl, 1, { needsEnvironment: true }));
    service.jobs.push(makePlannedJob(repository.cloneUrl, 2, { text: FILE, definition: "lint" }));
    let isAway = true;
    service.intercept = ({ path }) => {
      if (!isAway || !path.endsWith("/plan")) return null;
      isAway = false;
      return { status: 503, body: {} };
    };
    expect((await start("--once").ended).code).toBe(0);
    expect(service.plans).toHaveLength(1);
    expect(service.results).toHaveLength(1);
  });

  it("does not use up an ephemeral agent's one build", async () => {
    const { service, start } = await stage(true);
    const repository = testRepository({ ".millrace.yml": FILE });
    service.jobs.push(makeJob(repository.cloneUrl, 1, { needsEnvironment: true }));
    service.jobs.push(makePlannedJob(repository.cloneUrl, 2, { text: FILE, definition: "lint" }));
    service.jobs.push(makePlannedJob(repository.cloneUrl, 3, { text: FILE, definition: "docs" }));
    expect((await start().ended).code).toBe(0);
    expect(service.results).toMatchObject([{ body: { status: "succeeded" } }]);
    expect(service.jobs).toHaveLength(1);
    expect(service.requests.at(-1)).toMatchObject({ method: "DELETE" });
  });
});
