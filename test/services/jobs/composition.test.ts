import { describe, expect, it } from "vitest";
import { call, create, expectProblem } from "../../support/api.ts";
import { type BuildSetup, finishNewJob, newBuildSetup, pollOnce, readBuild } from "../../support/build-setup.ts";

const AWKWARD = ["constructor", "toString", "hasOwnProperty", "valueOf", "isPrototypeOf", "__defineGetter__"];

/** Adds two groups to the pipeline. @returns each scope's owner by name, the weakest first */
const scopes = async (works: BuildSetup) => {
  const { admin, orgId, repository, pipeline } = works;
  const groups = [];
  for (const name of ["first", "second"]) groups.push((await create(admin, "/secrets/groups", { name })).id);
  await call(admin, "PUT", `/pipeline/${pipeline.id}`, { groupIds: groups });
  return {
    organization: { scope: "organization", orgId },
    first: { scope: "group", orgId, groupId: groups[0] },
    second: { scope: "group", orgId, groupId: groups[1] },
    repository: { scope: "repository", repoId: repository.id },
    pipeline: { scope: "pipeline", pipelineId: pipeline.id },
  };
};

const set = ({ admin }: BuildSetup, owner: object, key: string, value: string, more: object = {}) =>
  create(admin, "/secrets/variables", { key, value, isSecret: true, ...owner, ...more });

describe("a build's environment", () => {
  it("has the nearest scope's value of each key: the run's first, then later groups before earlier ones", async () => {
    const works = await newBuildSetup();
    const owners = Object.entries(await scopes(works));
    for (const [index, [name]] of owners.entries()) {
      for (const [, owner] of owners.slice(0, index + 1)) {
        await set(works, owner, `UP_TO_${name}`, `${name} ${JSON.stringify(owner)}`);
      }
    }
    const { env, secretKeys, runKeys } = await finishNewJob(works, {
      envVariables: { UP_TO_pipeline: "of the run", N: 7 },
    });
    for (const [name, owner] of owners) {
      const expected = name === "pipeline" ? "of the run" : `${name} ${JSON.stringify(owner)}`;
      expect(env[`UP_TO_${name}`]).toBe(expected);
    }
    expect(env.N).toBe("7");
    expect(runKeys.sort()).toEqual(["N", "UP_TO_pipeline"]);
    expect(secretKeys.sort()).toEqual(owners.map(([name]) => `UP_TO_${name}`).sort());
  });

  it("has names that JavaScript knows at every level, with the stored values only", async () => {
    const works = await newBuildSetup();
    const bare = await finishNewJob(works);
    for (const key of AWKWARD) expect(Object.hasOwn(bare.env, key)).toBe(false);
    const owners = Object.values(await scopes(works));
    for (const [index, key] of AWKWARD.entries()) {
      const owner = owners[index];
      if (owner) await set(works, owner, key, `value of ${key}`);
    }
    const run = { __defineGetter__: "of the run", hasOwnProperty: "overridden" };
    const job = await finishNewJob(works, { envVariables: run, secretKeys: ["__defineGetter__"] });
    const expected = Object.fromEntries(AWKWARD.map((key) => [key, `value of ${key}`]));
    expect(job.env).toEqual({ ...expected, ...run });
    expect(job.secretKeys.sort()).toEqual([...AWKWARD].sort());
    const { body } = await call(works.admin, "GET", `/pipeline/${works.pipeline.id}/environment`);
    expect(body.map(({ key }: { key: string }) => key)).toEqual(AWKWARD.slice(0, 5).sort());
    const proto = '{"pipelineId":"x","branch":"main","envVariables":{"__proto__":"x"}}';
    expect((await call(works.admin, "POST", "/build", proto)).status).toBe(422);
    const variable = { key: "__proto__", value: "x", isSecret: false, ...owners[0] };
    expectProblem(await call(works.admin, "POST", "/secrets/variables", variable), 422, "invalid");
  });

  it("marks a key secret where any scope or the run does, even if overridden", async () => {
    const works = await newBuildSetup();
    const { organization, repository, pipeline } = await scopes(works);
    await set(works, organization, "ONCE_SECRET", "the secret");
    await set(works, pipeline, "ONCE_SECRET", "looks plain", { isSecret: false });
    await set(works, repository, "PLAIN", "plain", { isSecret: false });
    const marked = { envVariables: { MARKED: "m", OPEN: "o" }, secretKeys: ["MARKED", "NOT_THERE"] };
    const job = await finishNewJob(works, marked);
    expect(job.env).toEqual({ ONCE_SECRET: "looks plain", PLAIN: "plain", MARKED: "m", OPEN: "o" });
    expect(job.secretKeys.sort()).toEqual(["MARKED", "ONCE_SECRET"]);
    const preview = await call(works.admin, "GET", `/pipeline/${works.pipeline.id}/environment`);
    expect(preview.text).not.toContain("looks plain");
  });

  it("can be compared with another build's: key, scope and version, but no value", async () => {
    const works = await newBuildSetup();
    const { organization, repository } = await scopes(works);
    const kept = await set(works, organization, "KEPT", "kept value");
    const moved = await set(works, organization, "CHANGED", "before");
    const environmentOf = async (more: object = {}) => {
      const { build } = await finishNewJob(works, more);
      const shown = await call(works.admin, "GET", `/build/${build.id}`);
      for (const value of ["kept value", "before", "after", "nearer", "of the run"]) {
        expect(shown.text).not.toContain(value);
      }
      return (await readBuild(works.admin, build.id)).environment;
    };
    const first = await environmentOf();
    expect(first).toEqual([
      { key: "CHANGED", scope: "organization", isSecret: true, version: 1 },
      { key: "KEPT", scope: "organization", isSecret: true, version: 1 },
    ]);
    expect(await environmentOf()).toEqual(first);
    await call(works.admin, "PUT", `/secrets/variables/${moved.id}`, { value: "after" });
    expect(await environmentOf()).toEqual([{ ...first?.[0], version: 2 }, first?.[1]]);
    await set(works, repository, "KEPT", "nearer", { isSecret: false });
    expect(await environmentOf({ envVariables: { NEW: "of the run" } })).toEqual([
      { key: "CHANGED", scope: "organization", isSecret: true, version: 2 },
      { key: "KEPT", scope: "repository", isSecret: true, version: 1 },
      { key: "NEW", scope: "run", isSecret: false, version: null },
    ]);
    await call(works.admin, "PUT", `/secrets/variables/${kept.id}`, { isActive: false });
  });
});

describe("a run's envVariables", () => {
  const NAMES = ["PATH", "LD_PRELOAD", "bash_env", "Node_Options", "GIT_SSH_COMMAND", "DYLD_X", "PYTHONPATH", "IFS"];

  it.each(NAMES)("must not include %s, which a variable may", async (name) => {
    const works = await newBuildSetup();
    const wanted = {
      pipelineId: works.pipeline.id,
      branch: "main",
      envVariables: { [name]: "canary-value", FINE: "1" },
    };
    const answer = await call(works.admin, "POST", "/build", wanted);
    expectProblem(answer, 422, "invalid");
    expect(answer.body.errors).toEqual([expect.objectContaining({ pointer: `/envVariables/${name}` })]);
    expect(answer.text).not.toContain("canary-value");
    expect((await pollOnce(works.agent)).status).toBe(204);
    await set(works, { scope: "organization", orgId: works.orgId }, name, "set by a maintainer");
    expect((await finishNewJob(works)).env).toEqual({ [name]: "set by a maintainer" });
  });

  it("must not override a variable that forbids it, unless it is inactive", async () => {
    const works = await newBuildSetup();
    const { admin, pipeline } = works;
    const { organization } = await scopes(works);
    const { id } = await set(works, organization, "KEPT", "the value", { allowOverride: false });
    const wanted = { pipelineId: pipeline.id, branch: "main", envVariables: { KEPT: "mine" } };
    const answer = await call(admin, "POST", "/build", wanted);
    expectProblem(answer, 422, "invalid");
    expect(answer.body.errors).toEqual([expect.objectContaining({ pointer: "/envVariables/KEPT" })]);
    await call(admin, "PUT", `/secrets/variables/${id}`, { isActive: false });
    expect((await finishNewJob(works, wanted)).env.KEPT).toBe("mine");
    await call(admin, "PUT", `/secrets/variables/${id}`, { isActive: true });
    const first = (await call(admin, "GET", "/build")).body[0].id;
    expectProblem(await call(admin, "POST", `/build/${first}/retry`), 422, "invalid");
    await call(admin, "PUT", `/secrets/variables/${id}`, { allowOverride: true });
    expect((await call(admin, "POST", `/build/${first}/retry`)).status).toBe(201);
    expect((await pollOnce(works.agent)).body.env.KEPT).toBe("mine");
  });
});
