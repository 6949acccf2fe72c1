import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CacheEntry } from "../../src/protocol/cache.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import { Machine } from "../support/local/machine.ts";
import { startLocalService } from "../support/local/service.ts";
import { Project, type Run, type Stage } from "./several-jobs/stage.ts";

/* The service, its archive, and two real agents: what one build saved is what the next one finds. */

const VARS = { START_SECONDS: "5", LEASE_SECONDS: "20", HEARTBEAT_SECONDS: "1", POLL_SECONDS: "20" };

const stage = { projects: [] as unknown } as Stage;
/** A folder below the HOME that steps see. */
let home: string;

beforeAll(async () => {
  home = mkdtempSync(join(homedir(), ".mill-cache-test-"));
  stage.service = await startLocalService(VARS);
  stage.client = await stage.service.newOrganization("acme");
  stage.web = await Machine.start(stage.service, stage.client, "web");
});
afterAll(async () => {
  rmSync(home, { recursive: true, force: true });
  await stage.web?.stop();
  await stage.service?.remove();
});

const fileOf = (more = "") => `steps:
  - run: |
      test -f deps/made && cat deps/made deps/link >> "$HERE/found"
      cat ~/${basename(home)}/tool >> "$HERE/found" || true
      mkdir -p deps ~/${basename(home)}
      echo "by $MILLRACE_BUILD_NUMBER" > deps/made; ln -sf made deps/link; echo tool > ~/${basename(home)}/tool
      touch -d '2020-02-02 02:02:02' deps/made
      ${more}
cache:
  - { name: deps, files: lock, key: 'on-${"$"}{{ build.branch }}', fallback: [on-], path: [deps, ~/${basename(home)}] }
`;

const ended = async (run: Run) => {
  const build = await run.end().catch((error) => {
    throw new Error(`${error.message}\n${stage.web.printed()}\n${stage.service.printed()}`);
  });
  const { url, token } = stage.client;
  const log = await (
    await fetch(`${url}/build/${run.id}/log`, { headers: { Authorization: `Bearer ${token}` } })
  ).text();
  return { build, log };
};

const withLock = async (file: string): Promise<Project> => {
  const project = await Project.connect(stage, file);
  writeFileSync(join(project.git.work, "lock"), "1");
  project.git.git("add", "lock");
  project.git.git("commit", "--quiet", "--message", "Lock");
  return project;
};

const entriesOf = (project: Project): Promise<CacheEntry[]> =>
  stage.client.call("GET", `/repository/${project.repository.id}/cache`);

describe("a cache", () => {
  it("is saved once, and found by the next build: on the machine, then at the service", async () => {
    const project = await withLock(fileOf());
    const first = await ended(await project.trigger());
    expect(first.build, first.log).toMatchObject({ status: "succeeded" });
    expect(first.log).toMatch(/deps: there is none yet[\s\S]*deps: saved, \d+ bytes/);
    expect(await entriesOf(project)).toMatchObject([{ branch: "main" }]);
    rmSync(home, { recursive: true });
    const second = await ended(await project.trigger());
    expect(second.log).toMatch(/deps: restored, \d+ bytes from this machine/);
    expect(second.log).not.toContain("deps: saved");
    expect(project.lines("found")).toEqual(["by 1", "by 1", "tool"]);
    // A machine that has no copy.
    rmSync(home, { recursive: true });
    rmSync(join(stage.web.state, "cache"), { recursive: true });
    mkdirSync(join(stage.web.state, "cache"));
    const third = await ended(await project.trigger());
    expect(third.log).toMatch(/deps: restored, \d+ bytes from the service, saved by main/);
    expect(project.lines("found").slice(3)).toEqual(["by 1", "by 1", "tool"]);
    expect(readdirSync(join(stage.web.state, "cache"))).toHaveLength(1);
    expect(await entriesOf(project)).toHaveLength(1);
  });

  it("is another one when its files change, and begins with a fallback", async () => {
    const project = await withLock(fileOf());
    await ended(await project.trigger());
    writeFileSync(join(project.git.work, "lock"), "2");
    project.git.git("commit", "--quiet", "--all", "--message", "Lock again");
    const next = await ended(await project.trigger());
    expect(next.log).toMatch(/deps: restored of a fallback[\s\S]*deps: saved/);
    expect(await entriesOf(project)).toHaveLength(2);
  });

  it("of several parts is saved although its grant is refused meanwhile, and comes back whole", async () => {
    const file = `steps:
  - run: |
      test -f big/sum && (cd big && sha256sum -c sum) >> "$HERE/found"
      mkdir -p big && cd big && test -f sum || { head -c 75000000 /dev/urandom > bytes; sha256sum bytes > sum; }
cache:
  - { name: big, key: one, path: big }
`;
    const project = await Project.connect(stage, file);
    let refusals = 0;
    const parts = new Set<string>();
    stage.web.proxy.refuses = (made) => {
      const part = /^PUT .*\/cache\/([^/]+\/part\/\d+)$/.exec(made)?.[1];
      if (part === undefined) return null;
      parts.add(part);
      return part.endsWith("/2") && refusals++ === 0 ? 403 : null;
    };
    const first = await ended(await project.trigger());
    stage.web.proxy.refuses = () => null;
    expect(first.log).toMatch(/big: saved, 72 MiB/);
    // All parts are of one save: the second grant is for the first one's.
    expect([...parts].map((part) => part.slice(-1)).sort()).toEqual(["1", "2", "3"]);
    expect(new Set([...parts].map((part) => part.split("/")[0])).size).toBe(1);
    rmSync(join(stage.web.state, "cache"), { recursive: true });
    mkdirSync(join(stage.web.state, "cache"));
    const second = await ended(await project.trigger());
    expect(second.log).toMatch(/big: restored, 72 MiB from the service, saved by main/);
    expect(project.lines("found")).toEqual(["bytes: OK"]);
  });

  it("does not fail a build, whatever the store has", async () => {
    const project = await withLock(fileOf("test -d deps"));
    stage.web.proxy.passes = (made) => !made.includes("/cache");
    const without = await ended(await project.trigger());
    stage.web.calm();
    expect(without.build, without.log).toMatchObject({ status: "succeeded" });
    expect(without.log).toContain("Warning: cache: the cache was not asked for");
    expect(existsSync(join(stage.web.state, "cache"))).toBe(true);
  });

  it("of more than one part goes to the service and back", async () => {
    const file = `steps:
  - run: |
      test -f big && { sha256sum < big >> "$HERE/big"; exit; }
      head -c ${LIMITS.artifactPartBytes + 5_000_000} /dev/urandom > big; sha256sum < big >> "$HERE/big"
cache: [{ name: big, key: one, path: big }]
`;
    const project = await Project.connect(stage, file);
    expect((await ended(await project.trigger())).log).toMatch(/big: saved, 3\d MiB/);
    rmSync(join(stage.web.state, "cache"), { recursive: true });
    mkdirSync(join(stage.web.state, "cache"));
    expect((await ended(await project.trigger())).log).toMatch(/big: restored, 3\d MiB from the service/);
    const [made, restored] = project.lines("big");
    expect(restored).toBe(made);
  });

  it("is not saved after a failure", async () => {
    const project = await withLock(fileOf("exit 3"));
    const failed = await ended(await project.trigger());
    expect(failed.build).toMatchObject({ status: "failed", exitCode: 3 });
    expect(await entriesOf(project)).toEqual([]);
  });
});
