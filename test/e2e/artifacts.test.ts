import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Artifact, ArtifactWithFiles } from "../../src/protocol/artifact.ts";
import { Machine } from "../support/local/machine.ts";
import { startLocalService } from "../support/local/service.ts";
import { Project, type Stage, soon } from "./several-jobs/stage.ts";

/* The service, its archive, and a real agent: what one job leaves is what the next one finds. */

const VARS = { START_SECONDS: "5", LEASE_SECONDS: "20", HEARTBEAT_SECONDS: "1", POLL_SECONDS: "20" };

const stage = { projects: [] as unknown } as Stage;

beforeAll(async () => {
  stage.service = await startLocalService(VARS);
  stage.client = await stage.service.newOrganization("acme");
  stage.web = await Machine.start(stage.service, stage.client, "web");
});
afterAll(async () => {
  await stage.web?.stop();
  await stage.service?.remove();
});

/** The same bytes each time, of three parts. */
const BIG = 70_000_000;
const MAKE_BIG = `head -c ${BIG} /dev/zero | openssl enc -aes-128-ctr -K 00 -iv 00 -nosalt 2> /dev/null > out/big`;

const THREE_JOBS = `jobs:
  build:
    matrix: { system: [linux, "mac/os"] }
    steps:
      - run: |
          mkdir -p out/sub out/Mill.app/Versions/A
          echo "$MILLRACE_MATRIX" > out/sub/what
          : > out/empty
          printf '#!/bin/sh\\necho it runs\\n' > out/sub/run; chmod 755 out/sub/run
          ln -s sub/what out/link
          echo code > out/Mill.app/Versions/A/mill; ln -s A out/Mill.app/Versions/Current
          echo "said=out/sub/w*" >> "$MILLRACE_ARTIFACT"
    artifacts:
      - { name: files, path: [out/, '!out/empty'] }
      - { name: whole, path: out, as: tar, keep-days: 7 }
      - { name: on failure, path: out/sub/what, when: failure }
  big:
    steps: [{ run: 'mkdir out; ${MAKE_BIG}; sha256sum < out/big >> "$HERE/big"' }]
    artifacts: [{ name: big, path: out/big }]
  use:
    needs: [build, big]
    checkout: false
    downloads:
      - { from: build, artifact: files, to: in/files }
      - { from: build, artifact: whole, to: in/whole }
      - { from: build, to: in/all }
      - { from: big, artifact: big, to: in }
    steps:
      - run: |
          sha256sum < in/big >> "$HERE/big"
          cat in/files/*/sub/what in/files/linux/link in/whole/linux/link >> "$HERE/what"
          in/files/linux/sub/run >> "$HERE/what"
          readlink in/whole/linux/link in/files/mac%2Fos/Mill.app/Versions/Current >> "$HERE/what"
          test ! -e in/files/linux/empty; test -f in/whole/linux/empty; test ! -L in/files/linux/link
          ls in/all/linux in/all/linux/said >> "$HERE/what"
`;

const FAILING = `jobs:
  test:
    steps: [{ run: 'mkdir shots; echo seen > shots/a.png; exit 4' }]
    artifacts:
      - { name: app, path: build/app }
      - { name: shots, path: shots/, when: failure }
      - { name: none, path: nothing, when: always }
`;

const call = <T>(path: string): Promise<T> => stage.client.call<T>("GET", path);
const bytesOf = async (path: string): Promise<Buffer> => {
  const { url, token } = stage.client;
  const answer = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
};
const artifactsOf = async (path: string): Promise<Artifact[]> => {
  const answer = await call<{ items: Artifact[] } | Artifact[]>(path);
  return Array.isArray(answer) ? answer : answer.items;
};

describe("what jobs leave", () => {
  it("is what the next job finds, and what people download", async () => {
    const project = await Project.connect(stage, THREE_JOBS);
    const run = await project.trigger();
    const { by, ...build } = await run.end().catch(async (error) => {
      throw new Error(
        `${error.message}\n${await run.logOf("use")}\n${stage.web.printed()}\n${stage.service.printed()}`,
      );
    });
    expect(build.message ?? (await run.logOf("use"))).toMatch(/big of|big: big|is in in/);
    expect(build).toMatchObject({ status: "succeeded" });
    const [made, got] = project.lines("big");
    expect(got).toBe(made);
    expect(project.lines("what")).toEqual([
      '{"system":"linux"}',
      '{"system":"mac/os"}',
      '{"system":"linux"}',
      '{"system":"linux"}',
      "it runs",
      "sub/what",
      "A",
      "in/all/linux:",
      "files",
      "said",
      "whole",
      "",
      "in/all/linux/said:",
      "what",
    ]);
    const big = await artifactsOf(`/job/${by.big?.id}/artifact`);
    expect(big).toMatchObject([{ name: "big", bytes: BIG, files: 1, as: "files" }]);
    const whole = await call<ArtifactWithFiles>(`/job/${by.big?.id}/artifact/big`);
    const bytes = await bytesOf(`/job/${by.big?.id}/artifact/big/content/big`);
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(whole.list[0]?.sha256);
    const linux = by["build (linux)"]?.id;
    const files = await call<ArtifactWithFiles>(`/job/${linux}/artifact/files`);
    expect(files.list.map(({ path, mode }) => [path, mode])).toEqual([
      ["Mill.app.tar", "644"],
      ["link", "644"],
      ["sub/run", "755"],
      ["sub/what", "644"],
    ]);
  });

  it("is kept after a failure as it is declared, and says no more than the failure", async () => {
    const project = await Project.connect(stage, FAILING);
    const run = await project.trigger();
    const { by, ...build } = await run.end();
    expect(build).toMatchObject({ status: "failed" });
    expect(by.test).toMatchObject({ status: "failed", exitCode: 4, reason: null });
    expect(await run.logOf("test")).toContain("The artifact none was not kept: no file in the checkout is nothing");
    expect((await artifactsOf(`/job/${by.test?.id}/artifact`)).map(({ name }) => name)).toEqual(["shots"]);
  });

  it("fails the job where it cannot be kept", async () => {
    const project = await Project.connect(
      stage,
      "steps: [{ run: 'true' }]\nartifacts: [{ name: app, path: 'out/*.ipa' }]\n",
    );
    const run = await project.trigger();
    expect(await run.end()).toMatchObject({
      status: "failed",
      reason: "artifact-failed",
      message: "The artifact app was not kept: no file in the checkout is out/*.ipa",
    });
  });
});

const BIG_ALONE = `steps:
  - run: 'mkdir out; echo "$MILLRACE_BUILD_ID" > out/mark; ${MAKE_BIG}'
artifacts: [{ name: small, path: out/mark }, { name: big, path: out/ }]
`;

const isPart = (number: number) => new RegExp(`^PUT /job/[^/]+/artifact/[^/]+/part/${number}$`);

describe("an upload that is disturbed", () => {
  it("goes on after cut connections and a restart of the service, and sends again only what was cut", async () => {
    const project = await Project.connect(stage, BIG_ALONE);
    const seen: string[] = [];
    const answered: string[] = [];
    let isRestarting: Promise<void> | null = null;
    stage.web.proxy.passes = (made) => {
      if (!made.startsWith("PUT /job/")) return true;
      seen.push(made.replace(/.*part/, "part"));
      const before = seen.filter((one) => one === seen.at(-1)).length;
      if (isPart(3).test(made) && before === 1) isRestarting = stage.service.restart();
      return !(isPart(2).test(made) && before < 3) && !(isPart(3).test(made) && before === 1);
    };
    stage.web.proxy.returns = (made) => {
      if (made.startsWith("PUT /job/")) answered.push(made.replace(/.*part/, "part"));
      return true;
    };
    const run = await project.trigger();
    const build = await run.end();
    stage.web.calm();
    await isRestarting;
    expect(build, build.message ?? "").toMatchObject({ status: "succeeded" });
    expect(build.attempt).toBe(1);
    expect(seen.length).toBeGreaterThanOrEqual(7);
    // What the service answered: four parts, and what the restart cut or refused.
    expect(answered.length).toBeLessThanOrEqual(8);
    const artifacts = await artifactsOf(`/build/${run.id}/artifact`);
    expect(artifacts.map(({ name, files }) => [name, files])).toEqual([
      ["small", 1],
      ["big", 2],
    ]);
    expect((await bytesOf(`/job/${run.id}/artifact/big/content/big`)).length).toBe(BIG);
  });

  it("leaves nothing that is seen, where the agent is killed in it", async () => {
    const project = await Project.connect(stage, BIG_ALONE);
    const killed = stage.web.killAt("before", isPart(2));
    const run = await project.trigger();
    await killed;
    await soon(async () => expect(await artifactsOf(`/build/${run.id}/artifact`)).toEqual([]));
    const build = await run.end();
    expect(build).toMatchObject({ status: "succeeded" });
    const artifacts = await artifactsOf(`/build/${run.id}/artifact`);
    expect(artifacts.map(({ name }) => name)).toEqual(["small", "big"]);
    const { list } = await call<ArtifactWithFiles>(`/job/${run.id}/artifact/big`);
    expect(list.map(({ path, size }) => [path, size])).toEqual([
      ["big", BIG],
      ["mark", run.id.length + 1],
    ]);
  });
});
