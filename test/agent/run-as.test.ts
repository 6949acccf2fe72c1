import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { saveIdentity } from "../../src/agent/cli/identity.ts";
import type { StepUser } from "../../src/agent/process/step-user.ts";
import { isRoot } from "../support/local/named-user.ts";
import { runAgentCli } from "./support/agent-cli.ts";
import { type FakeService, IDENTITY, makeJob, startFakeService } from "./support/fake-service.ts";
import { testFolder } from "./support/folder.ts";
import { testRepository } from "./support/repository.ts";
import { attackAs, canAttack, namedUser } from "./support/step-user.ts";
import { waitUntil } from "./support/wait-until.ts";

const fakeService = async (): Promise<FakeService> => {
  const service = await startFakeService();
  onTestFinished(() => service.close());
  return service;
};

const openFolder = (mode: number): string => {
  const folder = testFolder();
  chmodSync(folder, mode);
  return folder;
};

/** Starts an agent whose steps have a user. Its work folder is new unless the test passes one. */
const start = (service: FakeService, { name }: StepUser, work = openFolder(0o711), ...more: string[]) => {
  const state = join(testFolder(), "state");
  saveIdentity(state, { ...IDENTITY, url: service.url });
  const agent = runAgentCli(["start", "--grace", "1", "--state", state, "--run-as", name, "--work", work, ...more]);
  return { ...agent, work };
};

const queue = (service: FakeService, number: number, steps: string, change: Parameters<typeof makeJob>[2] = {}) => {
  const { cloneUrl } = testRepository({ ".millrace.yml": `steps:\n${steps}` });
  const job = makeJob(cloneUrl, number, change);
  service.jobs.push(job);
  const { id } = job.build;
  return {
    log: (): string => service.logs.get(id) ?? "",
    ended: () => waitUntil(() => service.results.find(({ buildId }) => buildId === id)),
  };
};

describe.runIf(isRoot)("two agents with --run-as on one machine", () => {
  it("build at the same time, each with its own user and work folder", async () => {
    const services = await Promise.all([fakeService(), fakeService()]);
    const meeting = openFolder(0o777);
    const builds = services.map((service, index) => {
      const wait = `until [ -e ${meeting}/${1 - index} ]; do sleep 0.05; done`;
      return queue(service, index, `  - run: touch ${meeting}/${index}; ${wait}\n  - run: echo both\n`);
    });
    const agents = services.map((service) => start(service, namedUser(), undefined, "--once"));
    for (const build of builds) expect((await build.ended()).body).toMatchObject({ status: "succeeded" });
    for (const agent of agents) {
      expect((await agent.ended).code).toBe(0);
      expect(readdirSync(agent.work)).toEqual([]);
    }
  });

  it("cannot share a user or work folder, and the first agent continues", async () => {
    const service = await fakeService();
    const [user, other] = [namedUser(), namedUser()];
    const go = join(openFolder(0o711), "go");
    const build = queue(service, 1, `  - run: echo begun; until [ -e ${go} ]; do sleep 0.05; done\n`);
    const first = start(service, user, undefined, "--once");
    await waitUntil(() => build.log().includes("begun"));
    const sameUser = await start(service, user).ended;
    expect(sameUser).toMatchObject({ code: 4, stderr: expect.stringContaining(`runs its steps as ${user.name}`) });
    const sameWork = await start(service, other, first.work).ended;
    expect(sameWork).toMatchObject({ code: 4, stderr: expect.stringContaining("give each agent its own --work") });
    writeFileSync(go, "");
    expect((await build.ended()).body).toMatchObject({ status: "succeeded" });
    expect((await first.ended).code).toBe(0);
  });

  it("reject a work folder that their steps cannot enter", async () => {
    const work = join(testFolder(), "work");
    const { code, stderr } = await start(await fakeService(), namedUser(), work).ended;
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(`cannot enter ${work}`) });
  });
});

/** Forks and exits in an endless loop, and writes every secret that it finds in other processes' environments. */
const SPY = `
import glob, os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.setsid()
while True:
    if os.fork():
        os._exit(0)
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            if b"NEXT_SECRET=of-another-repository" in open(path, "rb").read():
                open(sys.argv[1], "w").close()
                sys.exit()
        except OSError:
            pass
    time.sleep(0.001)
`;

describe.runIf(canAttack)("a chain of processes that a build leaves", () => {
  it("does not read the next build's secret, unlike another process of its user", async () => {
    const service = await fakeService();
    const user = namedUser();
    const found = openFolder(0o777);
    const spy = join(openFolder(0o755), "spy.py");
    writeFileSync(spy, SPY, { mode: 0o644 });
    const leave = `/usr/bin/python3 ${spy} ${found}/left < /dev/null > /dev/null 2>&1 &`;
    const left = queue(service, 1, `  - run: ${leave} sleep 0.2\n`);
    const next = queue(service, 2, `  - run: echo begun; until [ -e ${found}/control ]; do sleep 0.05; done\n`, {
      env: { NEXT_SECRET: "of-another-repository" },
    });
    const agent = start(service, user);
    expect((await left.ended()).body).toMatchObject({ status: "succeeded" });
    await waitUntil(() => next.log().includes("begun"));
    attackAs(user, SPY, [`${found}/control`]);
    expect((await next.ended()).body).toMatchObject({ status: "succeeded" });
    expect(readdirSync(found)).toEqual(["control"]);
    agent.kill("SIGTERM");
    expect((await agent.ended).code).toBe(0);
  });
});

describe.runIf(isRoot)("a build with --run-as", () => {
  it("has its own HOME, which the next build does not see", async () => {
    const service = await fakeService();
    const builds = [1, 2].map((number) =>
      queue(
        service,
        number,
        '  - name: Look\n    run: ls -A ~ "$TMPDIR"; touch ~/.npmrc "$TMPDIR/x"; cd; pwd; git config --global a.b c\n',
      ),
    );
    const agent = start(service, namedUser());
    const homes = [];
    for (const build of builds) {
      expect((await build.ended()).body).toMatchObject({ status: "succeeded" });
      expect(build.log()).not.toMatch(/npmrc|gitconfig|^x$/m);
      homes.push(/^\/.*\/home$/m.exec(build.log())?.[0]);
    }
    expect(new Set(homes).size).toBe(2);
    agent.kill("SIGTERM");
    await agent.ended;
    expect(readdirSync(agent.work)).toEqual([]);
  });

  it("enters no working directory that its user cannot enter", async () => {
    const service = await fakeService();
    const closed = openFolder(0o700);
    mkdirSync(join(closed, "project"), { mode: 0o755 });
    writeFileSync(join(closed, "project/notes"), "ROOT-ONLY\n", { mode: 0o644 });
    const enter = "  - run: cat notes\n    working-directory: inside\n    continue-on-error: true\n";
    const steps = (place: string): string => `  - run: ln -s ${place} inside\n${enter}`;
    const build = queue(service, 1, steps(join(closed, "project")));
    const none = queue(service, 2, steps(join(closed, "nothing")));
    const agent = start(service, namedUser());
    await Promise.all([build.ended(), none.ended()]);
    expect(readFileSync(join(closed, "project/notes"), "utf8")).toBe("ROOT-ONLY\n");
    const [said, saidOfNone] = [build, none].map(({ log }) => log().split("--- cat notes\n")[1]);
    expect(said).toMatch(/^The folder for working-directory inside does not exist\n/);
    expect(saidOfNone).toBe(said);
    chmodSync(closed, 0o711);
    const control = queue(service, 3, steps(join(closed, "project")));
    await control.ended();
    expect(control.log()).toContain("ROOT-ONLY");
    agent.kill("SIGTERM");
    await agent.ended;
  });
});
