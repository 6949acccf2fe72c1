import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { saveIdentity } from "../../src/agent/cli/identity.ts";
import { Agent, RegisteredAgent } from "../../src/protocol/agent.ts";
import { Heartbeat, Hint, Job, LogAccepted } from "../../src/protocol/jobs.ts";
import { runAgentCli } from "./support/agent-cli.ts";
import { IDENTITY, makeJob, makePlannedJob, startFakeService } from "./support/fake-service.ts";
import { testFolder } from "./support/folder.ts";
import { FIELD, inTheFuture, WORD } from "./support/future.ts";
import { testRepository } from "./support/repository.ts";
import { waitUntil } from "./support/wait-until.ts";

const stage = async () => {
  const service = await startFakeService();
  onTestFinished(() => service.close());
  const state = join(testFolder(), "state");
  saveIdentity(state, { ...IDENTITY, url: service.url });
  return { service, start: (...more: string[]) => runAgentCli(["start", "--once", "--state", state, ...more]) };
};

/** Returns a job with a value in every part. */
const jobFor = (step: string, number: number): Job => {
  const job = makeJob(testRepository({ ".millrace.yml": `steps:\n  - run: ${step}\n` }).cloneUrl, number);
  const environment = [{ key: "K", scope: "run", isSecret: false, version: null } as const];
  const times = { startedAt: null, finishedAt: null, logOffset: null };
  const steps = [{ id: null, name: "x", status: "pending", exitCode: null, ...times } as const];
  return { ...job, build: { ...job.build, environment, steps }, requires: { platform: "linux" } };
};

describe("an agent that meets a newer service", () => {
  it("runs a job with unknown values and fields", async () => {
    const { service, start } = await stage();
    const seen: string[] = [];
    const job = inTheFuture(Job, jobFor("echo by ${{ build.trigger }}", 1), seen) as Job;
    const known = ["environment[]/scope", "reason", "status", "steps[]/status", "trigger"].map(
      (path) => `/build/${path}`,
    );
    expect(seen).toEqual(expect.arrayContaining([...known, "/requires/platform"]));
    expect(Job.safeParse(job).success).toBe(false);
    service.jobs.push(job);
    let log = "";
    service.intercept = ({ path, query, body }) => {
      if (!path.endsWith("/log")) return null;
      log = log.slice(0, Number(query.get("offset"))) + body.toString("latin1");
      return { body: inTheFuture(LogAccepted, { next: log.length }) };
    };
    expect((await start().ended).code).toBe(0);
    expect(service.results).toMatchObject([{ kind: "finish", body: { status: "succeeded" } }]);
    expect(log).toContain(`\nby ${WORD}\n`);
  });

  it("runs a planned job with an unknown result among its needs", async () => {
    const { service, start } = await stage();
    const text = `jobs:
  before: { steps: [{ run: echo }] }
  test: { needs: [before], steps: [{ run: 'echo "before \${{ needs.before.result }}"' }] }
`;
    const { cloneUrl } = testRepository({ ".millrace.yml": text });
    const job = makePlannedJob(cloneUrl, 9, { text });
    const before = {
      result: WORD,
      outcome: WORD,
      outputs: {},
      jobs: [{ matrix: null, result: WORD, outcome: WORD, outputs: {}, ...FIELD }],
    };
    const known = inTheFuture(Job, job) as Job;
    service.jobs.push({
      ...known,
      job: { ...known.job, needs: { before: { ...before, ...FIELD } } },
    } as unknown as Job);
    expect((await start().ended).code).toBe(0);
    expect(service.results).toMatchObject([{ buildId: job.job?.id, body: { status: "succeeded" } }]);
    expect(service.logs.get(job.job?.id ?? "")).toContain(`before ${WORD}\n`);
  });

  it("gives advice on a credential of an unknown kind", async () => {
    const { service, start } = await stage();
    const credential = { kind: "token", username: null, value: "a-secret-credential" } as const;
    const job = jobFor("echo never", 2);
    service.jobs.push(inTheFuture(Job, { ...job, repository: { ...job.repository, credential } }) as Job);
    await start().ended;
    const message = expect.stringContaining(
      "this agent is too old for the kind of the repository's credential: update it",
    );
    expect(service.results).toMatchObject([{ body: { status: "failed", reason: "agent-error", message } }]);
  });

  it("stops a build that is canceled for an unknown reason", async () => {
    const { service, start } = await stage();
    const seen: string[] = [];
    const heartbeat = { cancel: true, reason: "canceled", leaseExpiresAt: "2026-01-01T00:00:00.000Z" } as const;
    const answer = inTheFuture(Heartbeat, heartbeat, seen) as Record<string, unknown>;
    expect(seen).toEqual(["/reason"]);
    expect(Heartbeat.safeParse(answer).success).toBe(false);
    const job = jobFor("echo ready; sleep 1000", 3);
    service.jobs.push(job);
    const run = start("--grace", "1");
    await waitUntil(() => service.logs.get(job.build.id)?.includes("ready\n"));
    service.heartbeat = answer;
    expect((await run.ended).code).toBe(0);
    expect(service.results).toMatchObject([{ kind: "finish", body: { status: "canceled" } }]);
  });

  it("finds hints among unknown messages", async () => {
    const { service, start } = await stage();
    const run = start();
    await waitUntil(() => service.sockets() === 1 && service.requests.some(({ path }) => path.endsWith("/poll")));
    const seen: string[] = [];
    service.hint(inTheFuture(Hint, { type: "look" }, seen));
    expect(seen).toEqual(["/type"]);
    for (const odd of [null, 7, "text", [], {}, FIELD, { type: null }]) service.hint(odd);
    service.jobs.push(jobFor("echo hinted", 4));
    service.hint({ type: "look", buildId: "of another form", ...FIELD });
    expect((await run.ended).code).toBe(0);
    expect(service.results).toMatchObject([{ body: { status: "succeeded" } }]);
  });

  it("continues after rejections of an unknown type", async () => {
    const { service, start } = await stage();
    const problem = { type: `/problems/${WORD}`, title: "Odd", status: 418, detail: "odd", requestId: "r", ...FIELD };
    const job = jobFor("for n in 1 2 3; do echo line $n; sleep 0.5; done", 5);
    service.jobs.push(job);
    let gaps = 0;
    service.intercept = ({ path }) => {
      if (/(?:progress|heartbeat)$/.test(path)) return { status: 418, body: problem };
      if (path.endsWith("/log") && gaps++ === 0) return { status: 409, body: { expectedOffset: 0, ...FIELD } };
      return null;
    };
    const { code, stderr } = await start().ended;
    expect(code).toBe(0);
    expect(stderr).toContain("rejected a progress report: 418 Odd; odd");
    expect(service.results).toMatchObject([{ body: { status: "succeeded" } }]);
    expect(service.logs.get(job.build.id)).toMatch(/\nline 1\nline 2\nline 3\n$/);
  });

  it("registers, and shows its status, with unknown codes", async () => {
    const { service } = await stage();
    const state = join(testFolder(), "state");
    const agent = (await (await fetch(`${service.url}/buildagent/x`)).json()) as object;
    const future = inTheFuture(RegisteredAgent, { ...agent, token: "mra_x", heartbeatSeconds: 1, pollSeconds: 1 });
    expect(future).toMatchObject({ platform: 99, status: 99 });
    expect(RegisteredAgent.safeParse(future).success).toBe(false);
    service.intercept = ({ path }) =>
      path.endsWith("/register") ? { status: 201, body: future } : { body: inTheFuture(Agent, agent) };
    const args = ["--url", service.url, "--token-file", "-", "--name", "wheel", "--state", state];
    expect((await runAgentCli(["register", ...args], { input: "mrr_x" }).ended).code).toBe(0);
    const { code, stdout } = await runAgentCli(["status", "--state", state]).ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/seen as {3}99, last heard .*\n.*iOS no.*\nlabels {4}big\n/);
  });
});
