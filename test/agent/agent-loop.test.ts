import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { saveIdentity } from "../../src/agent/cli/identity.ts";
import { runAgentCli } from "./support/agent-cli.ts";
import { IDENTITY, makeJob, startFakeService } from "./support/fake-service.ts";
import { testFolder } from "./support/folder.ts";
import { testRepository } from "./support/repository.ts";
import { waitUntil } from "./support/wait-until.ts";

const PIPELINE = { ".millrace.yml": "steps:\n  - run: echo built\n" };

/** Creates an agent's state folder, and a folder whose programs precede the machine's own. */
const stage = async () => {
  const service = await startFakeService();
  onTestFinished(() => service.close());
  const folder = testFolder();
  const [state, programs, work] = [join(folder, "state"), join(folder, "programs"), join(folder, "work")];
  mkdirSync(programs);
  saveIdentity(state, { ...IDENTITY, url: service.url });
  const start = () =>
    runAgentCli(["start", "--state", state, "--work", work], { env: { PATH: `${programs}:${process.env.PATH}` } });
  return { service, folder, programs, work, start };
};

const buildsIn = (work: string): string[] => readdirSync(work).filter((name) => name.startsWith("build-"));

/** Creates a program that fails as on a full disk while the file exists, and runs the real program otherwise. */
const failsWhile = (folder: string, name: string, file: string): void => {
  const path = join(folder, name);
  const rest = `PATH=\${PATH#*:} exec ${name} "$@"`;
  const failing = `echo "${name}: No space left on device" >&2; exit 128`;
  writeFileSync(path, `#!/bin/sh\ncase "$*" in *init*|-m*) [ -e ${file} ] && { ${failing}; } ;; esac\n${rest}\n`);
  chmodSync(path, 0o755);
};

it("an idle agent logs no build when it stops", async () => {
  const { service, start } = await stage();
  const run = start();
  await waitUntil(() => service.sockets() === 1 && service.requests.some(({ path }) => path.endsWith("/poll")));
  run.kill("SIGINT");
  run.kill("SIGTERM");
  expect((await run.ended).code).toBe(0);
  expect(run.output()).toMatch(/SIG(INT|TERM): the agent is stopping\n/);
  expect(run.output()).not.toContain("active build");
});

it("an agent polls for a job at most once when its socket opens, once per hint, and once after a build", async () => {
  const { service, start } = await stage();
  const run = start();
  const polls = () => service.requests.filter(({ path }) => path.endsWith("/poll")).length;
  await waitUntil(() => service.sockets() === 1 && polls() > 0);
  service.jobs.push(makeJob(testRepository(PIPELINE).cloneUrl, 6));
  service.hint({ type: "look" });
  await waitUntil(() => service.results.length === 1 && service.requests.at(-1)?.path.endsWith("/poll") === true);
  expect(polls()).toBeLessThanOrEqual(3);
  run.kill("SIGTERM");
  expect((await run.ended).code).toBe(0);
});

describe("an agent that cannot create the next build's folder", () => {
  it.each(["git", "mkfifo"])("logs that %s failed, leaves nothing behind, and retries later", async (name) => {
    const { service, folder, programs, work, start } = await stage();
    const full = join(folder, "full");
    failsWhile(programs, name, full);
    writeFileSync(full, "");
    const run = start();
    await waitUntil(() => run.output().includes("cannot create a folder for the next build, retrying"));
    expect(run.output()).toContain("No space left on device");
    await waitUntil(() => buildsIn(work).length === 0);
    expect(service.requests.filter(({ path }) => path.endsWith("/poll"))).toEqual([]);
    rmSync(full);
    service.jobs.push(makeJob(testRepository(PIPELINE).cloneUrl, 1));
    await waitUntil(() => service.results.length === 1);
    expect(service.results[0]?.body).toMatchObject({ status: "succeeded" });
    run.kill("SIGTERM");
    expect((await run.ended).code).toBe(0);
    expect(buildsIn(work)).toEqual([]);
  });

  it("releases the build and accepts the next one if the prepared folder disappears", async () => {
    const { service, work, start } = await stage();
    const run = start();
    await waitUntil(() => service.sockets() === 1 && service.requests.some(({ path }) => path.endsWith("/poll")));
    rmSync(join(work, buildsIn(work)[0] ?? ""), { recursive: true });
    service.jobs.push(...[4, 5].map((number) => makeJob(testRepository(PIPELINE).cloneUrl, number)));
    service.hint({ type: "look" });
    await waitUntil(() => service.results.length === 2);
    expect(service.results).toMatchObject([
      { kind: "release", body: { reason: expect.stringContaining("ENOENT"), interrupted: true } },
      { kind: "finish", body: { status: "succeeded" } },
    ]);
    run.kill("SIGTERM");
    expect((await run.ended).code).toBe(0);
  });

  it("continues after a build removed the work folder, as soon as it can create the folder again", async () => {
    const { service, work, start } = await stage();
    const steps = `steps:\n  - run: mv ${work} ${work}.gone; touch ${work}\n`;
    service.jobs.push(makeJob(testRepository({ ".millrace.yml": steps }).cloneUrl, 2));
    const run = start();
    await waitUntil(() => run.output().includes("cannot create a folder for the next build, retrying"));
    expect(service.results).toHaveLength(1);
    rmSync(work);
    service.jobs.push(makeJob(testRepository(PIPELINE).cloneUrl, 3));
    await waitUntil(() => service.results.length === 2);
    expect(service.results[1]?.body).toMatchObject({ status: "succeeded" });
    run.kill("SIGTERM");
    expect((await run.ended).code).toBe(0);
    expect(existsSync(work)).toBe(true);
  });
});
