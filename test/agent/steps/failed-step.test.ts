import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { saveIdentity } from "../../../src/agent/cli/identity.ts";
import { findProgram, findStepUser } from "../../../src/agent/process/step-user.ts";
import { runAgentCli } from "../support/agent-cli.ts";
import { IDENTITY, makeJob, startFakeService } from "../support/fake-service.ts";
import { testFolder } from "../support/folder.ts";
import { testRepository } from "../support/repository.ts";
import { CAN_MOUNT, smallDisk } from "../support/small-disk.ts";
import { waitUntil } from "../support/wait-until.ts";

const IS_ROOT = process.getuid?.() === 0;

const run = async (steps: string) => {
  const folder = testFolder();
  writeFileSync(join(folder, "p.yml"), `steps:\n${steps}`);
  return runAgentCli(["run", "p.yml"], { cwd: folder }).ended;
};

const start = async (files: Record<string, string>, args: string[] = []) => {
  const service = await startFakeService();
  onTestFinished(() => service.close());
  const state = join(testFolder(), "state");
  saveIdentity(state, { ...IDENTITY, url: service.url });
  const job = makeJob(testRepository(files).cloneUrl, 1, { env: { KEY: "a-secret-name" }, secretKeys: ["KEY"] });
  service.jobs.push(job);
  const agent = runAgentCli(["start", "--grace", "1", "--state", state, ...args]);
  await waitUntil(() => service.results.length === 1);
  return { service, agent, log: () => service.logs.get(job.build.id) ?? "" };
};

describe("the log of an unsuccessful step", () => {
  it("ends with the exit code, the signal, or the reason why the step could not start", async () => {
    const { stdout } = await run(`  - { continue-on-error: true, run: exit 3 }
  - { continue-on-error: true, run: kill -SEGV $$ }
  - { continue-on-error: true, run: "(kill -KILL $BASHPID)" }
  - { continue-on-error: true, run: pwd, working-directory: gone }
  - { continue-on-error: true, run: seq 1000 >> "$MILLRACE_OUTPUT" }
  - run: echo good
`);
    const ends = stdout.split("\n").filter((line) => line.startsWith("The step"));
    expect(ends).toEqual([
      "The step ended with exit code 3",
      "The step was killed by SIGSEGV (signal 11)",
      "The step ended with exit code 137 (128 + 9: SIGKILL)",
      "The step ended with exit code 127",
      "The step wrote an invalid command file",
    ]);
    expect(stdout).toMatch(/\$MILLRACE_OUTPUT, line 20: .*\n\$MILLRACE_OUTPUT: and 980 more\nThe step wrote/);
    expect(stdout).toContain(
      "The folder for working-directory gone does not exist\nThe step ended with exit code 127\n",
    );
    expect(stdout).toMatch(/good\n$/);
  });

  it("names the largest variables if they are too large together", async () => {
    const write = (first: number): string => `  - run: |
      for n in $(seq ${first} ${first + 9}); do echo "V$n=$(head -c 10\${n}00 /dev/zero | tr '\\0' x)"; done > "$MILLRACE_ENV"
`;
    const { stdout } = await run(`${write(10)}${write(20)}${write(30)}  - run: echo never\n`);
    expect(stdout).toContain(
      "could not be started: its environment is larger than this machine allows (V39 has 103900 bytes, V38 103800, V37 103700)\n",
    );
  });

  it.runIf(process.platform === "linux")("names an output that a program made non-blocking", async () => {
    const node = `process.stdout.write("x"); require("fs").writeFileSync("ready", ""); setTimeout(() => {}, 100000)`;
    const { stdout, code } = await run(`  - run: |
      node -e '${node}' &
      until [ -e ready ]; do sleep 0.01; done
      seq 1 300000
`);
    expect(code).toBe(1);
    expect(stdout).toMatch(/The step ended with exit code 1\nPossible cause: .*non-blocking.*EAGAIN.*PROGRAM \| cat\n/);
    expect((await run("  - run: exit 1\n")).stdout).not.toContain("non-blocking");
  });

  it("is summarized, masked, in the build's message", async () => {
    const text = 'steps:\n  - { name: "Try a-secret-name", run: exit 9 }\n  - { if: always(), run: exit 8 }\n';
    const { service, log } = await start({ ".millrace.yml": text });
    const message = 'Step "Try ***" ended with exit code 9';
    expect(service.results[0]?.body).toEqual({ status: "failed", exitCode: 9, message });
    expect(log()).toContain("The step ended with exit code 9\n");
  });

  it("has no such line after a success", async () => {
    const { service, log } = await start({ ".millrace.yml": "steps:\n  - run: echo good\n" });
    expect(service.results[0]?.body).toEqual({ status: "succeeded", exitCode: 0, message: null });
    expect(log()).toMatch(/--- echo good\ngood\n$/);
  });
});

describe.runIf(CAN_MOUNT)("a full disk", () => {
  it("is named in the log and in the build's message, and the agent runs the next build", async () => {
    const work = smallDisk();
    const text = "steps:\n  - run: head -c 20000000 /dev/zero > big; echo never\n";
    const { service, agent, log } = await start({ ".millrace.yml": text }, ["--work", work]);
    expect(service.results[0]?.body).toMatchObject({
      status: "failed",
      message: expect.stringMatching(/the agent's disk is full|ended with exit code 1/),
    });
    expect(log()).toContain("No space left on device");
    expect(log()).toContain("the agent's disk is full: free some space");
    expect(log()).not.toMatch(/^never$/m);
    const next = makeJob(testRepository({ ".millrace.yml": "steps:\n  - run: echo good\n" }).cloneUrl, 2);
    service.jobs.push(next);
    await waitUntil(() => service.results.length === 2);
    expect(service.results[1]?.body).toMatchObject({ status: "succeeded" });
    agent.kill("SIGTERM");
    expect((await agent.ended).code).toBe(0);
    expect(readdirSync(work)).toEqual([]);
  });

  it("after a checkout fails only that build", async () => {
    const { service, agent } = await start(
      { ".millrace.yml": "steps:\n  - run: echo never\n", big: "0123456789".repeat(2_000_000) },
      ["--work", smallDisk()],
    );
    expect(service.results[0]?.body).toMatchObject({
      status: "failed",
      message: expect.stringMatching(/disk is full|diskspace/),
    });
    service.jobs.push(makeJob(testRepository({ ".millrace.yml": "steps:\n  - run: echo good\n" }).cloneUrl, 2));
    await waitUntil(() => service.results.length === 2);
    expect(service.results[1]?.body).toMatchObject({ status: "succeeded" });
    agent.kill("SIGTERM");
    expect((await agent.ended).code).toBe(0);
  });
});

describe("a step's program", () => {
  /** Creates two PATH folders with a program of the same name. Only the owner may open the first. */
  const twoPlaces = (): { closed: string; open: string } => {
    const folder = testFolder();
    chmodSync(folder, 0o755);
    const [closed, open] = [join(folder, "closed"), join(folder, "open")];
    for (const place of [closed, open]) {
      mkdirSync(place);
      writeFileSync(join(place, "tool"), "#!/bin/sh\n", { mode: 0o755 });
    }
    chmodSync(closed, 0o700);
    const path = process.env.PATH;
    process.env.PATH = `${closed}:${open}:${path}`;
    onTestFinished(() => {
      process.env.PATH = path;
    });
    return { closed, open };
  };

  it.runIf(IS_ROOT)("is the first one that the step's own user can run, not the first one for root", async () => {
    const { closed, open } = twoPlaces();
    expect(await findProgram("tool", null)).toBe(join(closed, "tool"));
    expect(await findProgram("tool", findStepUser("nobody"))).toBe(join(open, "tool"));
    chmodSync(join(open, "tool"), 0o700);
    await expect(findProgram("tool", findStepUser("nobody"))).rejects.toThrow(/tool is not .*nobody cannot run it/);
  });

  it("is an executable file, not a folder or a text file with that name", async () => {
    const { closed, open } = twoPlaces();
    chmodSync(join(closed, "tool"), 0o644);
    expect(await findProgram("tool", null)).toBe(join(open, "tool"));
    await expect(findProgram("no-such-tool", null)).rejects.toThrow("no-such-tool is not installed on this agent");
  });
});
