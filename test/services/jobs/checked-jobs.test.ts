import { describe, expect, it } from "vitest";
import { call, create, newPipeline } from "../../support/api.ts";
import { newBuildSetup } from "../../support/build-setup.ts";

const FILE = `jobs:
  test:
    matrix: { device: [phone, tablet] }
    requires: { ios: true }
    steps: [{ run: make }]
  deploy: { needs: [test], groups: [release], name: "To \${{ vars.WHERE }}", steps: [{ run: make deploy }] }
`;

describe("checking a file with several jobs", () => {
  it("lists its jobs, and hints at jobs that no registered agent can run", async () => {
    const { admin } = await newBuildSetup();
    const { body } = await call(admin, "POST", "/pipeline/check", { definition: FILE });
    expect(body).toMatchObject({ isValid: true, mistakes: [] });
    expect(body.jobs.map(({ key, agents }: { key: string; agents: number }) => [key, agents])).toEqual([
      ["test (phone)", 0],
      ["test (tablet)", 0],
      ["deploy", 1],
    ]);
    expect(body.hints).toEqual([{ line: 2, column: 3, message: expect.stringContaining("No registered agent") }]);
  });

  it("with a pipeline, says who must approve a job, and what it lacks on the default branch", async () => {
    const { admin, repository, orgId } = await newBuildSetup();
    const plain = { key: "WHERE", value: "shop", isSecret: false, scope: "organization", orgId };
    await create(admin, "/secrets/variables", plain);
    const group = await create(admin, "/secrets/groups", { name: "release", protection: { approval: "admin" } });
    const pipeline = await newPipeline(admin, repository.id, { name: "jobs", groupIds: [group.id] });
    const check = async () => {
      const { body } = await call(admin, "POST", "/pipeline/check", { definition: FILE, pipelineId: pipeline.id });
      return body.jobs?.find(({ key }: { key: string }) => key === "deploy") ?? body.mistakes;
    };
    expect(await check()).toMatchObject({ name: "To shop", groups: ["release"], gate: "admin", withheld: [] });
    const path = `/secrets/groups/${group.id}`;
    await call(admin, "PUT", path, { protection: { branches: ["release/**"] } });
    expect(await check()).toMatchObject({ gate: null, withheld: ["release"] });
    await call(admin, "PUT", `/pipeline/${pipeline.id}`, { groupIds: [] });
    expect(await check()).toMatchObject([{ line: 6, message: expect.stringContaining("variable group") }]);
  });

  it("lists no jobs for a file of steps, or where there are mistakes", async () => {
    const { admin } = await newBuildSetup();
    const steps = await call(admin, "POST", "/pipeline/check", { definition: "steps: [{ run: make }]" });
    expect(steps.body).toMatchObject({ isValid: true, jobs: null });
    const wrong = await call(admin, "POST", "/pipeline/check", { definition: FILE.replace("[test]", "[tests]") });
    expect(wrong.body).toMatchObject({ isValid: false, jobs: null });
  });
});

describe("an environment's preview", () => {
  it("shows what a job that names protected groups gets on a branch", async () => {
    const { admin, repository, orgId } = await newBuildSetup();
    const group = await create(admin, "/secrets/groups", { name: "release", protection: { branches: ["main"] } });
    const secret = { key: "KEY", value: "v", isSecret: true, scope: "group", groupId: group.id, orgId };
    await create(admin, "/secrets/variables", secret);
    const { id } = await newPipeline(admin, repository.id, { name: "jobs", groupIds: [group.id] });
    const keys = async (query: string) => {
      const { body } = await call(admin, "GET", `/pipeline/${id}/environment${query}`);
      return body.map(({ key }: { key: string }) => key);
    };
    expect(await keys("")).toEqual([]);
    expect(await keys("?groups=release")).toEqual(["KEY"]);
    expect(await keys("?groups=other,release&branch=main")).toEqual(["KEY"]);
    expect(await keys("?groups=release&branch=feature")).toEqual([]);
  });
});
