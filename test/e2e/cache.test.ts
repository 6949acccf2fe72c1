import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CacheEntry } from "../../src/protocol/cache.ts";
import { Project, type Stage, setUp, tearDown } from "./several-jobs/stage.ts";

/* The service, its archive and two real agents: each build finds the cache that the previous one saved. */

const stage = {} as Stage;
/** A folder below the steps' HOME. */
let home: string;

beforeAll(async () => {
  home = mkdtempSync(join(homedir(), ".mill-cache-test-"));
  await setUp(stage, ["web"]);
});
afterAll(async () => {
  rmSync(home, { recursive: true, force: true });
  await tearDown(stage);
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
  it("is saved once, and restored by the next build from the machine, then from the service", async () => {
    const project = await withLock(fileOf("ln -sfn made deps/other"));
    const first = await (await project.trigger()).endWithLog();
    expect(first.build, first.log).toMatchObject({ status: "succeeded" });
    expect(first.log).toMatch(/deps: no entry yet[\s\S]*deps: saved, \d+ bytes/);
    expect(await entriesOf(project)).toMatchObject([{ branch: "main" }]);
    rmSync(home, { recursive: true });
    const second = await (await project.trigger()).endWithLog();
    expect(second.log).toMatch(/deps: restored, \d+ bytes from this machine/);
    expect(second.log).not.toContain("deps: saved");
    expect(project.lines("found")).toEqual(["by 1", "by 1", "tool"]);
    // The machine has lost its copy.
    rmSync(home, { recursive: true });
    rmSync(join(stage.web.state, "cache"), { recursive: true });
    const third = await (await project.trigger()).endWithLog();
    expect(third.log).toMatch(/deps: restored, \d+ bytes from the service, saved by main/);
    expect(project.lines("found").slice(3)).toEqual(["by 1", "by 1", "tool"]);
    expect(readdirSync(join(stage.web.state, "cache"))).toHaveLength(1);
    expect(await entriesOf(project)).toHaveLength(1);
    // The agent does not pack an entry again after a failed restore: entries never change.
    mkdirSync(join(project.git.work, "deps/other"), { recursive: true });
    writeFileSync(join(project.git.work, "deps/other/in-its-way"), "");
    project.git.git("add", "--all");
    project.git.git("commit", "--quiet", "--message", "Put a folder in the way");
    const fourth = await (await project.trigger()).endWithLog();
    expect(fourth.log).toContain(
      "Warning: cache: cannot restore deps: deps/other: a file or folder with this name already",
    );
    expect(fourth.log).not.toMatch(/deps(:| was not) saved/);
  });

  it("gets a new entry when its files change, which starts from a fallback", async () => {
    const project = await withLock(fileOf());
    await (await project.trigger()).endWithLog();
    writeFileSync(join(project.git.work, "lock"), "2");
    project.git.git("commit", "--quiet", "--all", "--message", "Lock again");
    const next = await (await project.trigger()).endWithLog();
    expect(next.log).toMatch(/deps: restored from a fallback key[\s\S]*deps: saved/);
    expect(await entriesOf(project)).toHaveLength(2);
  });

  it("never fails a build, whatever the store contains", async () => {
    const project = await withLock(fileOf("test -d deps"));
    stage.web.proxy.passes = (made) => !made.includes("/cache");
    const without = await (await project.trigger()).endWithLog();
    stage.web.calm();
    expect(without.build, without.log).toMatchObject({ status: "succeeded" });
    expect(without.log).toContain("Warning: cache: cannot look up the cache");
    expect(existsSync(join(stage.web.state, "cache"))).toBe(true);
  });

  it("is not sent while another job saves the same entry, and the log says so", async () => {
    const project = await withLock(fileOf());
    stage.web.proxy.passes = (made) => !/cache\/[^/]+\/part\//.test(made);
    const cut = await (await project.trigger()).endWithLog();
    stage.web.calm();
    expect(cut.log).toMatch(/Warning: cache: cannot save deps/);
    const sent: string[] = [];
    stage.web.proxy.passes = (made) => sent.push(made) > 0;
    const next = await (await project.trigger()).endWithLog();
    stage.web.calm();
    expect(next.build, next.log).toMatchObject({ status: "succeeded" });
    expect(next.log).toContain("\ndeps: not saved: Another job is saving this key.");
    expect(sent.filter((made) => made.includes("/cache/") && made.includes("/part/"))).toEqual([]);
    expect(await entriesOf(project)).toEqual([]);
  });

  it("names the path on the machine that blocks it", async () => {
    const copies = join(stage.web.state, "cache");
    rmSync(copies, { recursive: true });
    writeFileSync(copies, "");
    const project = await withLock(fileOf());
    const { log } = await (await project.trigger()).endWithLog();
    rmSync(copies);
    expect(log).toContain(`Warning: cache: cannot save deps: ${copies}: EEXIST`);
  });

  it("is not saved after a failure", async () => {
    const project = await withLock(fileOf("exit 3"));
    const failed = await (await project.trigger()).endWithLog();
    expect(failed.build).toMatchObject({ status: "failed", exitCode: 3 });
    expect(await entriesOf(project)).toEqual([]);
  });
});
