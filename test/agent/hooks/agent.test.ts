import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { EXIT } from "../../../src/agent/cli/exit-codes.ts";
import { saveIdentity } from "../../../src/agent/cli/identity.ts";
import { isRoot } from "../../support/local/named-user.ts";
import { runAgentCli } from "../support/agent-cli.ts";
import { IDENTITY, makeJob, startFakeService } from "../support/fake-service.ts";
import { testFolder } from "../support/folder.ts";
import { testRepository } from "../support/repository.ts";
import { namedUser } from "../support/step-user.ts";
import { waitUntil } from "../support/wait-until.ts";
import { writeHooks } from "./support/hooks.ts";

/** Starts an agent with hooks, and its service. */
const stage = async (hooks: Parameters<typeof writeHooks>[1]) => {
  const service = await startFakeService();
  onTestFinished(() => service.close());
  const [state, work] = [join(testFolder(), "state"), join(testFolder(), "work")];
  saveIdentity(state, { ...IDENTITY, url: service.url });
  const folder = writeHooks(state, hooks);
  const start = (...more: string[]) =>
    runAgentCli(["start", "--state", state, "--work", work, "--grace", "1", ...more]);
  const queue = (number: number, steps: string, change: Parameters<typeof makeJob>[2] = {}) => {
    const job = makeJob(testRepository({ ".millrace.yml": `steps:\n${steps}` }).cloneUrl, number, change);
    service.jobs.push(job);
    return { id: job.build.id, log: () => service.logs.get(job.build.id) ?? "" };
  };
  return { service, state, work, folder, start, queue };
};

describe("an agent with hooks", () => {
  it("runs them around each job, in sections of its log, without its variables and secrets", async () => {
    const told = 'env | grep -c "TOKEN_OF_BUILD\\|hunter22"; echo "$MILLRACE_HOOK $MILLRACE_BUILD_NUMBER"';
    const { service, queue, start, state } = await stage({ "before-job": told, "after-job": `${told}; echo hunter22` });
    const secret = { env: { TOKEN_OF_BUILD: "hunter22" }, secretKeys: ["TOKEN_OF_BUILD"] };
    const build = queue(1, "  - run: echo built\n", secret);
    expect((await start("--once").ended).code).toBe(0);
    expect(service.results).toMatchObject([{ kind: "finish", body: { status: "succeeded" } }]);
    const sections = build
      .log()
      .split(/^--- /m)
      .map((part) => part.trimEnd());
    expect(sections[1]).toBe("before-job (hook of this machine's owner)\n0\nbefore-job 1");
    expect(sections[2]).toMatch(/commit [0-9a-f]{40}$/);
    expect(sections.slice(3)).toEqual([
      "echo built\nbuilt",
      "after-job (hook of this machine's owner)\n0\nafter-job 1\n***",
    ]);
    expect(existsSync(join(state, "after-job-due"))).toBe(false);
  });

  it("returns a job whose before-job failed without using an attempt or running it, and exits after three failures", async () => {
    const { service, queue, start } = await stage({ "before-job": "echo no disk; exit 4", "after-job": "echo tidied" });
    const builds = [1, 2, 3, 4].map((number) => queue(number, "  - run: echo built\n"));
    const { code, stderr } = await start().ended;
    expect(code).toBe(EXIT.hooks);
    expect(stderr).toContain("before-job failed 3 times in a row; the last time, it ended with exit code 4");
    const reason = "this machine is not ready: the hook before-job ended with exit code 4";
    expect(service.results.map(({ kind, body }) => [kind, body])).toEqual(Array(3).fill(["release", { reason }]));
    expect(service.jobs).toHaveLength(1);
    expect(builds[0]?.log()).toContain("no disk\nbefore-job ended with exit code 4\n");
    expect(builds[0]?.log()).toContain("\ntidied\n");
    expect(builds.some((build) => build.log().includes("built"))).toBe(false);
  });

  it("accepts no job after a failed after-job, not even after a restart until after-job succeeds", async () => {
    const { service, queue, start, folder } = await stage({ "after-job": "[ -e good ] || exit 5" });
    queue(1, "  - run: 'true'\n");
    queue(2, "  - run: 'true'\n");
    const first = await start().ended;
    expect([first.code, first.stderr.includes("after-job ended with exit code 5")]).toEqual([EXIT.hooks, true]);
    expect(service.results).toMatchObject([{ kind: "finish", body: { status: "succeeded" } }]);
    expect((await start().ended).code).toBe(EXIT.hooks);
    expect(service.results).toHaveLength(1);
    writeHooks(join(folder, ".."), { "after-job": "true" });
    expect((await start("--once").ended).code).toBe(0);
    expect(service.results).toHaveLength(2);
  });

  it("cleans up after a job during which it was killed, before it polls", async () => {
    const { queue, start, folder, service } = await stage({ "after-job": 'echo "$MILLRACE_BUILD_NUMBER" >> ran' });
    const build = queue(7, "  - run: echo begun; sleep 1000\n");
    const killed = start();
    await waitUntil(() => build.log().includes("begun"));
    killed.kill("SIGKILL");
    await killed.ended;
    expect(existsSync(join(folder, "ran"))).toBe(false);
    const polls = () => service.requests.filter(({ path }) => path.endsWith("/poll")).length;
    const before = polls();
    let ranBeforePoll = false;
    service.intercept = ({ path }) => {
      if (path.endsWith("/poll") && polls() === before + 1) ranBeforePoll = existsSync(join(folder, "ran"));
      return null;
    };
    const next = start();
    await waitUntil(() => polls() > before);
    next.kill("SIGTERM");
    expect((await next.ended).code).toBe(0);
    expect(readFileSync(join(folder, "ran"), "utf8")).toBe("7\n");
    expect(ranBeforePoll).toBe(true);
  });

  it("ends a hook that hung when the agent was killed, and then cleans up", async () => {
    const { queue, start, folder } = await stage({
      "before-job": "echo $$ > pid; while :; do sleep 0.1; done",
      // An ended process may still wait for its parent.
      "after-job": "case $(ps -o stat= -p $(cat pid)) in ''|Z*) echo dead ;; *) echo alive ;; esac > ran",
    });
    queue(1, "  - run: 'true'\n");
    const killed = start();
    await waitUntil(() => existsSync(join(folder, "pid")) && readFileSync(join(folder, "pid"), "utf8") !== "");
    killed.kill("SIGKILL");
    await killed.ended;
    const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
    expect(() => process.kill(pid, 0)).not.toThrow();
    const next = start();
    await waitUntil(() => existsSync(join(folder, "ran")) && readFileSync(join(folder, "ran"), "utf8") !== "");
    next.kill("SIGTERM");
    expect((await next.ended).code).toBe(0);
    expect(readFileSync(join(folder, "ran"), "utf8")).toBe("dead\n");
  });

  it("does not start if others can write the hooks, and says what to do", async () => {
    const { service, start, folder } = await stage({ "before-job": "true" });
    chmodSync(join(folder, "before-job"), 0o777);
    const { code, stderr } = await start().ended;
    expect(code).toBe(EXIT.hooks);
    expect(stderr).toContain(`${folder}/before-job can be written by users other than its owner (chmod go-w)`);
    expect(service.requests).toEqual([]);
  });

  it("returns a job as canceled if the cancel arrives during before-job", async () => {
    const { service, queue, start, folder } = await stage({ "before-job": "touch begun; sleep 1000" });
    queue(1, "  - run: echo built\n");
    const agent = start("--once");
    await waitUntil(() => existsSync(join(folder, "begun")));
    service.heartbeat = { cancel: true, reason: "canceled" };
    service.hint({ type: "cancel" });
    expect((await agent.ended).code).toBe(0);
    expect(service.results).toMatchObject([{ kind: "finish", body: { status: "canceled" } }]);
  });

  it.runIf(isRoot)("runs them as itself with --run-as, and no step can write, read or stop them", async () => {
    const { queue, start, folder, service, work, state } = await stage({
      "before-job": "id -u",
      "after-job": "id -u; echo clean",
    });
    chmodSync(join(work, ".."), 0o711);
    mkdirSync(work, { mode: 0o711 });
    const user = namedUser();
    const attack = [
      `echo 'echo evil' > ${folder}/after-job`,
      `mv ${folder} ${folder}-gone`,
      `cat ${folder}/after-job`,
      `rm ${state}/after-job-due`,
      `ln -s /etc/passwd ${state}/hook-output-1`,
    ];
    const build = queue(
      1,
      `  - shell: sh\n    run: |\n      set +e; id -u\n      ${attack.join("\n      ")}\n      exit 0\n`,
    );
    expect((await start("--once", "--run-as", user.name).ended).code).toBe(0);
    expect(service.results).toMatchObject([{ body: { status: "succeeded" } }]);
    expect(build.log().match(/ermission denied/g)?.length).toBe(attack.length);
    expect(build.log()).toContain(`\n${user.uid}\n`);
    expect(build.log()).toMatch(/before-job \(hook of this machine's owner\)\n0\n/);
    expect(build.log()).toMatch(/after-job \(hook of this machine's owner\)\n0\nclean\n$/);
  });
});
