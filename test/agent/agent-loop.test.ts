import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { saveIdentity } from "../../src/agent/cli/identity.ts";
import { agentService, IDENTITY, jobOf } from "./support/agent-service.ts";
import { agentProgram } from "./support/command-line.ts";
import { testFolder } from "./support/folder.ts";
import { testRepository } from "./support/repository.ts";
import { until } from "./support/until.ts";

const PIPELINE = { ".millrace.yml": "steps:\n  - run: echo built\n" };

/** An agent's state folder, and a folder of programs that come before the machine's own. */
const stage = async () => {
  const service = await agentService();
  onTestFinished(() => service.close());
  const folder = testFolder();
  const [state, programs, work] = [join(folder, "state"), join(folder, "programs"), join(folder, "work")];
  mkdirSync(programs);
  saveIdentity(state, { ...IDENTITY, url: service.url });
  const start = () =>
    agentProgram(["start", "--state", state, "--work", work], { env: { PATH: `${programs}:${process.env.PATH}` } });
  return { service, folder, programs, work, start };
};

const buildsIn = (work: string): string[] => readdirSync(work).filter((name) => name.startsWith("build-"));

/** A program that fails like one on a full disk while the file is there, and is the real one otherwise. */
const failsWhile = (folder: string, name: string, file: string): void => {
  const path = join(folder, name);
  const rest = `PATH=\${PATH#*:} exec ${name} "$@"`;
  const failing = `echo "${name}: No space left on device" >&2; exit 128`;
  writeFileSync(path, `#!/bin/sh\ncase "$*" in *init*|-m*) [ -e ${file} ] && { ${failing}; } ;; esac\n${rest}\n`);
  chmodSync(path, 0o755);
};

describe("an agent whose machine gives no folder for the next build", () => {
  it.each(["git", "mkfifo"])("because %s fails says so, leaves nothing half-made, and goes on later", async (name) => {
    const { service, folder, programs, work, start } = await stage();
    const full = join(folder, "full");
    failsWhile(programs, name, full);
    writeFileSync(full, "");
    const run = start();
    await until(() => run.output().includes("no folder for the next build, trying again"));
    expect(run.output()).toContain("No space left on device");
    await until(() => buildsIn(work).length === 0);
    expect(service.seen.filter(({ path }) => path.endsWith("/poll"))).toEqual([]);
    rmSync(full);
    service.jobs.push(jobOf(testRepository(PIPELINE).cloneUrl, 1));
    await until(() => service.ends.length === 1);
    expect(service.ends[0]?.body).toMatchObject({ status: "succeeded" });
    run.kill("SIGTERM");
    expect((await run.ended).code).toBe(0);
    expect(buildsIn(work)).toEqual([]);
  });

  it("because the one made before is gone gives the build back, and takes the next", async () => {
    const { service, work, start } = await stage();
    const run = start();
    await until(() => service.sockets() === 1 && service.seen.some(({ path }) => path.endsWith("/poll")));
    rmSync(join(work, buildsIn(work)[0] ?? ""), { recursive: true });
    service.jobs.push(...[4, 5].map((number) => jobOf(testRepository(PIPELINE).cloneUrl, number)));
    service.hint({ type: "look" });
    await until(() => service.ends.length === 2);
    expect(service.ends).toMatchObject([
      { kind: "release", body: { reason: expect.stringContaining("ENOENT"), interrupted: true } },
      { kind: "finish", body: { status: "succeeded" } },
    ]);
    run.kill("SIGTERM");
    expect((await run.ended).code).toBe(0);
  });

  it("because a build took its work folder away goes on once it can be made again", async () => {
    const { service, work, start } = await stage();
    const steps = `steps:\n  - run: mv ${work} ${work}.gone; touch ${work}\n`;
    service.jobs.push(jobOf(testRepository({ ".millrace.yml": steps }).cloneUrl, 2));
    const run = start();
    await until(() => run.output().includes("no folder for the next build, trying again"));
    expect(service.ends).toHaveLength(1);
    rmSync(work);
    service.jobs.push(jobOf(testRepository(PIPELINE).cloneUrl, 3));
    await until(() => service.ends.length === 2);
    expect(service.ends[1]?.body).toMatchObject({ status: "succeeded" });
    run.kill("SIGTERM");
    expect((await run.ended).code).toBe(0);
    expect(existsSync(work)).toBe(true);
  });
});
