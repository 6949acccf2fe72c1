import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Artifact, ArtifactWithFiles } from "../../src/protocol/artifact.ts";
import { Project, type Stage, setUp, tearDown } from "./several-jobs/stage.ts";

/* The service, its archive and a real agent: each job finds the artifacts of the previous one. */

const stage = {} as Stage;

beforeAll(() => setUp(stage, ["web"]));
afterAll(() => tearDown(stage));

const BYTES = 300_000;

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
    steps: [{ run: 'mkdir out; head -c ${BYTES} /dev/urandom > out/big; sha256sum < out/big >> "$HERE/big"' }]
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

describe("a job's artifact", () => {
  it("reaches the next job and people's downloads", async () => {
    const project = await Project.connect(stage, THREE_JOBS);
    const run = await project.trigger();
    const { by, ...build } = await run.end();
    expect(build.message ?? (await run.logOf("use"))).toMatch(/big from|big: big|put into in/);
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
    expect(big).toMatchObject([{ name: "big", bytes: BYTES, files: 1, as: "files" }]);
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

  it("is kept after a failure if its `when` says so, and does not hide the failure", async () => {
    const project = await Project.connect(stage, FAILING);
    const run = await project.trigger();
    const { by, ...build } = await run.end();
    expect(build).toMatchObject({ status: "failed" });
    expect(by.test).toMatchObject({ status: "failed", exitCode: 4, reason: null });
    expect(await run.logOf("test")).toContain("Cannot store artifact none: no file in the checkout matches nothing");
    expect((await artifactsOf(`/job/${by.test?.id}/artifact`)).map(({ name }) => name)).toEqual(["shots"]);
  });

  it("fails the job if it cannot be kept", async () => {
    const project = await Project.connect(
      stage,
      "steps: [{ run: 'true' }]\nartifacts: [{ name: app, path: 'out/*.ipa' }]\n",
    );
    const run = await project.trigger();
    expect(await run.end()).toMatchObject({
      status: "failed",
      reason: "artifact-failed",
      message: "Cannot store artifact app: no file in the checkout matches out/*.ipa",
    });
  });
});
