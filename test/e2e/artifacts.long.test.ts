import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Artifact, ArtifactWithFiles } from "../../src/protocol/artifact.ts";
import { Project, type Stage, setUp, soon, tearDown } from "./several-jobs/stage.ts";

/* Artifacts that need three parts. */

const stage = {} as Stage;

beforeAll(() => setUp(stage, ["web"]));
afterAll(() => tearDown(stage));

/** Three parts. The bytes are the same in each run. */
const BIG = 70_000_000;
const MAKE_BIG = `head -c ${BIG} /dev/zero | openssl enc -aes-128-ctr -K 00 -iv 00 -nosalt 2> /dev/null > out/big`;

const TWO_JOBS = `jobs:
  big:
    steps: [{ run: 'mkdir out; ${MAKE_BIG}; sha256sum < out/big >> "$HERE/big"' }]
    artifacts: [{ name: big, path: out/big }]
  use:
    needs: [big]
    checkout: false
    downloads: [{ from: big, artifact: big, to: in }]
    steps: [{ run: 'sha256sum < in/big >> "$HERE/big"' }]
`;

const artifactsOf = (id: string): Promise<Artifact[]> => stage.client.call("GET", `/build/${id}/artifact`);
const bytesOf = async (path: string): Promise<Buffer> => {
  const { url, token } = stage.client;
  const answer = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
};
const call = <T>(path: string): Promise<T> => stage.client.call<T>("GET", path);

it("reaches the next job and people's downloads", async () => {
  const project = await Project.connect(stage, TWO_JOBS);
  const { by, ...build } = await (await project.trigger()).end();
  expect(build, build.message ?? "").toMatchObject({ status: "succeeded" });
  const [made, got] = project.lines("big");
  expect(got).toBe(made);
  const { list } = await call<ArtifactWithFiles>(`/job/${by.big?.id}/artifact/big`);
  const bytes = await bytesOf(`/job/${by.big?.id}/artifact/big/content/big`);
  expect(bytes.length).toBe(BIG);
  expect(createHash("sha256").update(bytes).digest("hex")).toBe(list[0]?.sha256);
});

const BIG_ALONE = `steps:
  - run: 'mkdir out; echo "$MILLRACE_BUILD_ID" > out/mark; ${MAKE_BIG}'
artifacts: [{ name: small, path: out/mark }, { name: big, path: out/ }]
`;

const isPart = (number: number) => new RegExp(`^PUT /job/[^/]+/artifact/[^/]+/part/${number}$`);

describe("a disturbed upload", () => {
  it("continues after cut connections and a service restart, and resends only the cut parts", async () => {
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
    // The service answered four parts, and those that the restart cut or rejected.
    expect(answered.length).toBeLessThanOrEqual(8);
    const artifacts = await artifactsOf(run.id);
    expect(artifacts.map(({ name, files }) => [name, files])).toEqual([
      ["small", 1],
      ["big", 2],
    ]);
    expect((await bytesOf(`/job/${run.id}/artifact/big/content/big`)).length).toBe(BIG);
  });

  it("leaves nothing visible if the agent is killed during it", async () => {
    const project = await Project.connect(stage, BIG_ALONE);
    const killed = stage.web.killAt("before", isPart(2));
    const run = await project.trigger();
    await killed;
    await soon(async () => expect(await artifactsOf(run.id)).toEqual([]));
    const build = await run.end();
    expect(build).toMatchObject({ status: "succeeded" });
    const artifacts = await artifactsOf(run.id);
    expect(artifacts.map(({ name }) => name)).toEqual(["small", "big"]);
    const { list } = await call<ArtifactWithFiles>(`/job/${run.id}/artifact/big`);
    expect(list.map(({ path, size }) => [path, size])).toEqual([
      ["big", BIG],
      ["mark", run.id.length + 1],
    ]);
  });
});
