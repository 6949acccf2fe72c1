import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { saveIdentity } from "../../src/agent/cli/identity.ts";
import { processTable } from "../../src/agent/process/process-table.ts";
import { testedAgent } from "../support/set-up/agent.ts";
import { runAgentCli } from "./support/agent-cli.ts";
import { type FakeService, IDENTITY, makeJob, startFakeService } from "./support/fake-service.ts";
import { testFolder } from "./support/folder.ts";
import { testRepository } from "./support/repository.ts";
import { waitUntil } from "./support/wait-until.ts";

const fakeService = async (): Promise<FakeService> => {
  const service = await startFakeService();
  onTestFinished(() => service.close());
  return service;
};

/** Registers an agent with the command line. */
const register = async (url: string, ...more: string[]): Promise<string> => {
  const state = join(testFolder(), "state");
  const args = ["register", "--url", url, "--token-file", "-", "--name", "wheel", "--labels", "big", "--web", ...more];
  const { code, stderr } = await runAgentCli([...args, "--state", state], { input: "mrr_acme_secret\n" }).ended;
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return state;
};

/** Writes the identity of a registered agent. */
const registered = async (url: string, isEphemeral = false): Promise<string> => {
  const state = join(testFolder(), "state");
  saveIdentity(state, { ...IDENTITY, url, isEphemeral });
  return state;
};

const pipeline = (steps: string): Record<string, string> => ({ ".millrace.yml": `steps:\n${steps}` });

/** Runs `start --once` with one job and waits until the agent ends. */
const buildOnce = async (service: FakeService, job: ReturnType<typeof makeJob>, ...more: string[]) => {
  const state = await registered(service.url);
  service.jobs.push(job);
  const run = runAgentCli(["start", "--once", "--grace", "1", "--state", state, ...more]);
  const ended = await run.ended;
  return { ...ended, state, log: service.logs.get(job.build.id) ?? "", end: service.results[0] };
};

describe("an agent", () => {
  it("registers, runs a build, reports everything, and leaves nothing behind", async () => {
    const service = await fakeService();
    const repository = testRepository(
      pipeline(`  - name: Greet
    run: |
      echo "hello $NAME from $MILLRACE_BRANCH at $MILLRACE_COMMIT"
      echo "to stderr" > /dev/stderr
      for c in s e c r e t - v a l u e; do printf %s $c; done; echo
      echo "key $KEY"
  - name: Leave something running
    run: setsid sleep 1000 & sleep 1000 &
`),
    );
    const job = makeJob(repository.cloneUrl, 1, { env: { NAME: "mill", KEY: "secret-value" }, secretKeys: ["KEY"] });
    const { code, log, end, state } = await buildOnce(service, job);
    const head = repository.git("rev-parse", "HEAD");
    expect(code).toBe(0);
    expect(end).toMatchObject({ kind: "finish", lease: "1001", body: { status: "succeeded", exitCode: 0 } });
    expect(log).toBe(
      `--- Checkout of acme/mill, main\ncommit ${head}\n--- Greet\nhello mill from main at ${head}\nto stderr\n***\nkey ***\n` +
        "--- Leave something running\n",
    );
    expect(service.progress[0]).toMatchObject({ commitSha: head });
    const steps = service.progress.at(-1)?.steps as { name: string; status: string; logOffset: number }[];
    expect(steps.map(({ name, status }) => [name, status])).toEqual([
      ["Greet", "succeeded"],
      ["Leave something running", "succeeded"],
    ]);
    expect(steps.map(({ logOffset }) => log.slice(logOffset).split("\n")[0])).toEqual([
      "--- Greet",
      "--- Leave something running",
    ]);
    expect(readdirSync(join(state, "work"))).toEqual([]);
    expect(existsSync(join(state, "lock"))).toBe(false);
    expect(JSON.stringify(service.requests.map(({ body }) => body.toString()))).not.toContain("secret-value");
  });

  it.each([
    ["releases a job that it cannot fetch, for another agent", true, 200, ["release"]],
    ["fails a job that it cannot fetch if no other agent can run it", true, 409, ["release", "finish"]],
    ["fails a job that it cannot fetch if the service does not allow a release", undefined, 200, ["finish"]],
  ])("%s", async (_, mayGoElsewhere, status, kinds) => {
    const service = await fakeService();
    const problem = { type: "/problems/conflict", title: "No", status: 409, detail: "nobody", requestId: "r" };
    service.intercept = ({ path, headers, body }) => {
      if (status === 200 || !path.endsWith("/release")) return null;
      service.results.push({
        buildId: "",
        kind: "release",
        lease: String(headers["x-lease"]),
        body: JSON.parse(String(body)),
      });
      return { status, body: problem };
    };
    const { log } = await buildOnce(service, makeJob("file:///nowhere/x.git", 7, { mayGoElsewhere }));
    expect(service.results.map(({ kind }) => kind)).toEqual(kinds);
    const [first, last] = [service.results[0]!, service.results.at(-1)!];
    if (kinds.includes("release")) {
      expect(first.body).toEqual({ elsewhere: true, reason: expect.stringContaining("git fetch failed") });
    }
    if (kinds.includes("finish")) expect(last.body).toMatchObject({ status: "failed", reason: "checkout-failed" });
    expect(log).toContain("git fetch failed");
  });

  it("drops a build before any checkout if the service rejects its start", async () => {
    const service = await fakeService();
    const problem = { type: "/problems/lease-lost", title: "Lost", status: 409, detail: "gone", requestId: "r" };
    service.intercept = ({ path }) => (path.endsWith("/start") ? { status: 409, body: problem } : null);
    const { stderr, code } = await buildOnce(service, makeJob("file:///nowhere/x.git", 6));
    expect(stderr).toContain("rejected the start of build 6 of acme/mill: 409 Lost; gone");
    expect(code).toBe(0);
    expect(service.results).toEqual([]);
  });

  it("hides its token from the steps' environment and every process's arguments", async () => {
    const service = await fakeService();
    const steps = `  - run: |
      cat /proc/$PPID/cmdline /proc/$PPID/environ /proc/self/environ | tr '\\0' '\\n'
`;
    const { log, state } = await buildOnce(service, makeJob(testRepository(pipeline(steps)).cloneUrl, 8));
    expect(readFileSync(join(state, "identity.json"), "utf8")).toContain("mra_acme_token");
    expect(log).toContain(basename(testedAgent()));
    expect(log).not.toContain("mra_");
    expect(log).not.toContain("mrr_");
  });
});

describe("stopping a build", () => {
  const SLEEPER = pipeline(`  - run: |
      trap '' TERM
      setsid sleep 1000 &
      echo ready
      while :; do sleep 1000; done
  - run: echo never
  - if: cancelled()
    run: echo tidied
`);

  const started = async () => {
    const service = await fakeService();
    const state = await registered(service.url);
    const job = makeJob(testRepository(SLEEPER).cloneUrl, 9);
    service.jobs.push(job);
    const run = runAgentCli(["start", "--once", "--grace", "1", "--state", state]);
    await waitUntil(() => service.logs.get(job.build.id)?.includes("ready"));
    return { service, run, log: () => service.logs.get(job.build.id) ?? "" };
  };

  it("ends all processes after a cancel hint, and logs the reason", async () => {
    const { service, run, log } = await started();
    service.heartbeat = { cancel: true, reason: "canceled" };
    service.hint({ type: "cancel" });
    await run.ended;
    expect(service.results).toMatchObject([{ kind: "finish", body: { status: "canceled", reason: "canceled" } }]);
    expect(log()).toContain("tidied\n");
    expect(log()).not.toContain("never");
    const steps = service.progress.at(-1)?.steps as { status: string }[];
    expect(steps.map(({ status }) => status)).toEqual(["canceled", "skipped", "succeeded"]);
  });

  it("sends no result when the lease is lost", async () => {
    const { service, run, log } = await started();
    service.heartbeat = { cancel: true, reason: "lease-lost" };
    const { code } = await run.ended;
    expect(code).toBe(0);
    expect(service.results).toEqual([]);
    expect(log()).not.toContain("tidied");
  });

  it("finishes the build after one SIGTERM, and releases it for another attempt after a second one", async () => {
    const { service, run, log } = await started();
    run.kill("SIGTERM");
    await waitUntil(() => run.output().includes("exits after the active build"));
    expect(service.results).toEqual([]);
    run.kill("SIGTERM");
    const { code } = await run.ended;
    expect(service.results).toMatchObject([
      { kind: "release", body: { reason: "the agent was stopped", interrupted: true } },
    ]);
    expect(log()).toContain("The step was stopped: the agent is stopping\n");
    expect(log()).toMatch(/tidied\nThe agent was stopped: this attempt is lost\n$/);
    expect(code).toBe(0);
  });

  it("stops the build at the pipeline's time limit", async () => {
    const service = await fakeService();
    const job = makeJob(testRepository(pipeline("  - run: sleep 1000\n")).cloneUrl, 10, { timeoutSeconds: 1 });
    const { end, log } = await buildOnce(service, job);
    expect(end?.body).toMatchObject({
      status: "failed",
      reason: "timeout",
      message: expect.stringContaining("time limit of 1 seconds"),
    });
    expect(log).toContain("exceeded its time limit");
  });
});

/** A step that ignores SIGTERM and prints its process id. */
const DEAF_LOOP = "  - run: trap '' TERM; echo pid $$; while :; do sleep 1000; done\n";

describe("an agent that a failed test left running", () => {
  let pid: string;

  it("starts a step that ignores SIGTERM", async () => {
    const service = await fakeService();
    const state = await registered(service.url);
    const job = makeJob(testRepository(pipeline(DEAF_LOOP)).cloneUrl, 18);
    service.jobs.push(job);
    runAgentCli(["start", "--state", state]);
    [, pid = ""] = await waitUntil(() => /pid (\d+)/.exec(service.logs.get(job.build.id) ?? ""));
  });

  it("ends with all its processes when the test ends", () => {
    expect(pid).toMatch(/^\d+$/);
    expect(processTable("").map((row) => row.pid)).not.toContain(Number(pid));
  });
});

describe("a waiting agent", () => {
  it("waits for hints on the socket, polls after each, and exits cleanly on SIGTERM", async () => {
    const service = await fakeService();
    const state = await registered(service.url);
    const repository = testRepository(pipeline("  - run: echo built\n"));
    const run = runAgentCli(["start", "--state", state]);
    await waitUntil(() => service.sockets() === 1);
    await waitUntil(() =>
      service.requests.some(({ path, query }) => path.endsWith("/poll") && query.get("wait") === "0"),
    );
    service.jobs.push(makeJob(repository.cloneUrl, 11), makeJob(repository.cloneUrl, 12));
    service.hint({ type: "look" });
    await waitUntil(() => service.results.length === 2);
    run.kill("SIGTERM");
    expect((await run.ended).code).toBe(0);
    const boots = service.requests
      .filter(({ path }) => path.endsWith("/poll"))
      .map(({ headers }) => headers["x-boot-id"]);
    expect(new Set(boots).size).toBe(1);
    expect(existsSync(join(state, "lock"))).toBe(false);
  });

  it("long-polls without a WebSocket", async () => {
    const service = await fakeService();
    const state = await registered(service.url);
    service.intercept = ({ method }) => (method === "UPGRADE" ? { status: 426 } : null);
    service.jobs.push(makeJob(testRepository(pipeline("  - run: true\n")).cloneUrl, 13));
    const { stderr } = await runAgentCli(["start", "--once", "--state", state]).ended;
    expect(service.results).toHaveLength(1);
    expect(stderr).toContain("cannot open a WebSocket for hints (status 426): polling instead");
    const poll = service.requests.find(({ path }) => path.endsWith("/poll"));
    expect(poll?.query.get("wait")).not.toBe("0");
  });

  it("sends a heartbeat after failed polls, and after the service rejected a build's start", async () => {
    const service = await fakeService();
    const state = await registered(service.url);
    const idle = () =>
      service.requests.filter(({ path, headers }) => path.endsWith("/heartbeat") && headers["x-lease"] === undefined);
    let polls = 0;
    service.intercept = ({ path, method }) => {
      if (path.endsWith("/start")) return { status: 409 };
      return path.endsWith("/poll") && method === "GET" && ++polls === 1 ? { status: 503 } : null;
    };
    const run = runAgentCli(["start", "--state", state]);
    await waitUntil(() => idle().length === 1);
    service.jobs.push(makeJob(testRepository(pipeline("  - run: true\n")).cloneUrl, 15));
    service.hint({ type: "look" });
    await waitUntil(() => idle().length === 2);
    run.kill("SIGTERM");
    expect((await run.ended).code).toBe(0);
    expect(service.results).toEqual([]);
  });

  it("delivers the whole log and one result although the service fails, cuts connections and asks for time", async () => {
    const service = await fakeService();
    const repository = testRepository(pipeline("  - run: for n in 1 2 3 4 5; do echo line $n; sleep 0.3; done\n"));
    const seen = new Map<string, number>();
    service.intercept = ({ path, method }) => {
      if (path.startsWith("/buildagent/register")) return null;
      const count = (seen.get(path + method) ?? 0) + 1;
      seen.set(path + method, count);
      if (count === 1) return { status: 503, headers: { "Retry-After": "1" } };
      return count === 2 && path.endsWith("/log") ? { drop: true } : null;
    };
    const { end, log } = await buildOnce(service, makeJob(repository.cloneUrl, 14));
    expect(end?.body).toMatchObject({ status: "succeeded" });
    expect(service.results).toHaveLength(1);
    expect(log).toMatch(/line 1\nline 2\nline 3\nline 4\nline 5\n$/);
  });

  it("exits with advice after its removal", async () => {
    const service = await fakeService();
    const state = await registered(service.url);
    service.intercept = () => ({ status: 401 });
    const { code, stderr } = await runAgentCli(["start", "--state", state]).ended;
    expect(code).toBe(3);
    expect(stderr).toMatch(/Register it again/);
  });

  it("stops the active build after its removal", async () => {
    const service = await fakeService();
    const state = await registered(service.url);
    const job = makeJob(testRepository(pipeline("  - run: echo ready; sleep 1000\n")).cloneUrl, 15);
    service.jobs.push(job);
    const run = runAgentCli(["start", "--grace", "1", "--state", state]);
    await waitUntil(() => service.logs.get(job.build.id)?.includes("ready"));
    service.intercept = () => ({ status: 401 });
    expect((await run.ended).code).toBe(3);
    expect(readdirSync(join(state, "work"))).toEqual([]);
  });

  it("removes an ephemeral agent from the service and the disk after one build", async () => {
    const service = await fakeService();
    const state = await registered(service.url, true);
    service.jobs.push(makeJob(testRepository(pipeline("  - run: true\n")).cloneUrl, 16));
    const { code } = await runAgentCli(["start", "--state", state]).ended;
    expect(code).toBe(0);
    expect(service.results).toHaveLength(1);
    expect(service.requests.at(-1)).toMatchObject({ method: "DELETE" });
    expect(existsSync(join(state, "identity.json"))).toBe(false);
  });

  it("ends the processes of a killed agent", async () => {
    const service = await fakeService();
    const state = await registered(service.url);
    const job = makeJob(testRepository(pipeline(DEAF_LOOP)).cloneUrl, 17);
    service.jobs.push(job);
    const killed = runAgentCli(["start", "--state", state]);
    const [, pid] = await waitUntil(() => /pid (\d+)/.exec(service.logs.get(job.build.id) ?? ""));
    killed.kill("SIGKILL");
    await killed.ended;
    expect(processTable("").map((row) => row.pid)).toContain(Number(pid));
    const next = runAgentCli(["start", "--grace", "1", "--state", state]);
    await waitUntil(() => next.output().includes("waits for builds"));
    expect(processTable("").map((row) => row.pid)).not.toContain(Number(pid));
    next.kill("SIGTERM");
    expect((await next.ended).code).toBe(0);
  });
});

describe("the state folder", () => {
  it("closes itself and its identity to other users", async () => {
    const service = await fakeService();
    const state = await register(service.url);
    expect(statSync(state).mode & 0o777).toBe(0o700);
    expect(statSync(join(state, "identity.json")).mode & 0o777).toBe(0o600);
  });

  it("serves one agent at a time", async () => {
    const service = await fakeService();
    const state = await registered(service.url);
    const first = runAgentCli(["start", "--state", state]);
    await waitUntil(() => first.output().includes("waits for builds"));
    const second = await runAgentCli(["start", "--state", state]).ended;
    expect(second.code).toBe(4);
    expect(second.stderr).toContain(`process ${first.pid}`);
    expect((await runAgentCli(["deregister", "--state", state]).ended).code).toBe(4);
    first.kill("SIGKILL");
    await first.ended;
    const third = runAgentCli(["start", "--state", state]);
    await waitUntil(() => third.output().includes("waits for builds"));
    third.kill("SIGINT");
    expect((await third.ended).code).toBe(0);
  });

  it("registers once, appears in status, and deregisters", async () => {
    const service = await fakeService();
    const state = await register(service.url);
    const again = await runAgentCli(
      ["register", "--url", service.url, "--token-file", "-", "--name", "x", "--state", state],
      { input: "t" },
    ).ended;
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("already has the agent wheel") });
    const seen = await runAgentCli(["status", "--state", state]).ended;
    expect(seen.code).toBe(0);
    expect(seen.stdout).toMatch(/name {6}wheel\n.*not running.*seen as {3}idle/s);
    expect(seen.stdout).not.toContain("mra_");
    expect((await runAgentCli(["deregister", "--state", state]).ended).code).toBe(0);
    expect((await runAgentCli(["start", "--state", state]).ended).code).toBe(3);
  });

  it("reads a registration token only from a file that only its owner can read", async () => {
    const service = await fakeService();
    const folder = testFolder();
    const file = join(folder, "token");
    const run = () =>
      runAgentCli(["register", "--url", service.url, "--token-file", file, "--name", "x", "--state", join(folder, "s")])
        .ended;
    writeFileSync(file, "mrr_acme_token\n", { mode: 0o644 });
    expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining("chmod 600") });
    chmodSync(file, 0o600);
    expect((await run()).code).toBe(0);
    expect(service.requests.at(-1)?.headers.authorization).toBe("Bearer mrr_acme_token");
  });
});
