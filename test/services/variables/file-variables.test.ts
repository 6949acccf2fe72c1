import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Variable } from "../../../src/protocol/variable.ts";
import { call, create, expectProblem, newOrganization } from "../../support/api.ts";
import {
  type BuildSetup,
  completeJob,
  newBuildSetup,
  pollOnce,
  readBuild,
  triggerBuild,
} from "../../support/build-setup.ts";
import { callDeployedWith } from "../../support/deployment.ts";
import { pollForJobs } from "../../support/jobs.ts";

const ALL = "environment,jobs,files";
const PEM = "-----BEGIN KEY-----\nc2VjcmV0IG9mIHRoZSBtaWxs\n-----END KEY-----\n";

const file = (orgId: string, more: object = {}) => ({
  ...{ key: "CERTIFICATE", value: PEM, isSecret: true, isFile: true, scope: "organization", orgId },
  ...more,
});

const make = ({ admin, orgId }: Pick<BuildSetup, "admin" | "orgId">, more: object = {}) =>
  create<Variable>(admin, "/secrets/variables", file(orgId, more));

/** Runs a job that an agent with these features gets with its environment in the poll. */
const handedTo = async (works: BuildSetup, features: string, more: object = {}) => {
  const definition = "steps:\n  - run: ./deploy.sh\n";
  await call(works.admin, "PUT", `/pipeline/${works.pipeline.id}`, { definition });
  const { id } = await triggerBuild(works.admin, works.pipeline.id, more);
  const answer = await pollForJobs(works.agent, features);
  if (answer.status === 200) await completeJob(works.agent, answer.body);
  return { answer, build: await readBuild(works.admin, id) };
};

describe("a variable of type file", () => {
  it("shows its encoding and name, and never a secret one's text", async () => {
    const { orgId, admin } = await newOrganization();
    const secret = await make({ orgId, admin });
    expect(secret).toMatchObject({ isFile: true, fileEncoding: "text", fileName: null, isSecret: true });
    const plain = await make(
      { orgId, admin },
      { key: "P", isSecret: false, fileEncoding: "base64", value: "Zm9v\nYg==" },
    );
    expect(plain).toMatchObject({ isFile: true, fileEncoding: "base64", value: "Zm9v\nYg==" });
    const none = await create<Variable>(admin, "/secrets/variables", {
      ...{ key: "NONE", value: "v", isSecret: false, scope: "organization", orgId },
    });
    for (const field of ["isFile", "fileEncoding", "fileName"]) expect(none).not.toHaveProperty(field);
    const path = `/secrets/variables/${secret.id}`;
    const seen = [
      await call(admin, "GET", path),
      await call(admin, "GET", "/secrets/variables"),
      await call(admin, "PUT", path, { fileName: "dist.pem" }),
      await call(admin, "GET", "/audit"),
      await call(admin, "GET", `/organization/${orgId}/export?noun=variable`),
    ];
    for (const { status, text } of seen) {
      expect(status).toBe(200);
      expect(text).not.toContain("c2VjcmV0");
    }
    expect(seen[2]?.body).toMatchObject({ fileName: "dist.pem", fileEncoding: "text", version: 2 });
    expect(seen[3]?.text).toContain('"fileName":"dist.pem"');
    expect(seen[4]?.text).toContain('"isFile":true');
    const stored = await env.DB.prepare("SELECT * FROM variable WHERE id = ?").bind(secret.id).first();
    expect(stored).toMatchObject({ value: null, sealed: expect.stringMatching(/^m1\.s1\./), file_encoding: "text" });
  });

  it.each([
    ["../id_rsa", "slash"],
    ["a/b", "slash"],
    ["..", "name of a file"],
    [".", "name of a file"],
    ["", "name of a file"],
    ["a\0b", "control"],
    ["a\nb", "control"],
    ["\ud800", "Unicode"],
    ["é".repeat(128), "255 bytes"],
  ])("cannot be named %j", async (fileName, why) => {
    const { orgId, admin } = await newOrganization();
    const answer = await call(admin, "POST", "/secrets/variables", file(orgId, { fileName }));
    expectProblem(answer, 422, "invalid");
    expect(answer.body.errors).toEqual([{ pointer: "/fileName", detail: expect.stringContaining(why) }]);
    expect(answer.text).not.toContain("c2VjcmV0");
    expect((await make({ orgId, admin }, { fileName: `${"é".repeat(127)}x` })).isFile).toBe(true);
  });

  it.each(["Zm9", "Zm9v=", "Zm9_", "=", "Zm9vYg=", "Zg==Zg==", "a b c"])(
    "rejects %j as base64, and repeats none of it",
    async (value) => {
      const { orgId, admin } = await newOrganization();
      const body = file(orgId, { value, fileEncoding: "base64" });
      const answer = await call(admin, "POST", "/secrets/variables", body);
      expectProblem(answer, 422, "invalid");
      expect(answer.body.errors).toEqual([{ pointer: "/value", detail: "must be base64 with padding" }]);
      const { id } = await make({ orgId, admin }, { value: "Zm9v", fileEncoding: "base64" });
      expectProblem(await call(admin, "PUT", `/secrets/variables/${id}`, { value }), 422, "invalid");
    },
  );

  it("can become a value and a file again, and base64 only if the stored value is base64", async () => {
    const { orgId, admin } = await newOrganization();
    const { id } = await make({ orgId, admin }, { fileName: "a.pem" });
    const put = (body: object) => call(admin, "PUT", `/secrets/variables/${id}`, body);
    expectProblem(await put({ fileEncoding: "base64" }), 422, "invalid");
    expectProblem(await put({ isFile: false, fileName: "b.pem" }), 422, "invalid");
    const whole = (await call(admin, "GET", `/secrets/variables/${id}`)).body;
    expect((await put(whole)).status).toBe(200);
    expect((await put({ isFile: false, fileEncoding: null, fileName: null })).body).not.toHaveProperty("isFile");
    expectProblem(await put({ fileName: "b.pem" }), 422, "invalid");
    expectProblem(await put({ fileEncoding: "text" }), 422, "invalid");
    expect((await put({ value: "Zm9v" })).status).toBe(200);
    expect((await put({ isFile: true, fileEncoding: "base64" })).body).toMatchObject({ isFile: true, fileName: null });
  });

  it("holds 48 KiB as stored", async () => {
    const { orgId, admin } = await newOrganization();
    const value = "A".repeat(48 * 1024);
    expect((await make({ orgId, admin }, { value, fileEncoding: "base64" })).isFile).toBe(true);
    const body = file(orgId, { key: "B", value: `${value}\n`, fileEncoding: "base64" });
    expectProblem(await call(admin, "POST", "/secrets/variables", body), 413, "too-large");
  });
});

describe("a build with files", () => {
  it("gets them apart from its environment, and names them", async () => {
    const works = await newBuildSetup();
    await make(works, { fileName: "dist.pem" });
    await make(works, { key: "PROFILE", isSecret: false, value: "Zm9v", fileEncoding: "base64" });
    await make(works, { key: "PLAIN", isSecret: false, isFile: false, value: "wheel" });
    const { answer, build } = await handedTo(works, ALL);
    expect(answer.body).toMatchObject({ env: { PLAIN: "wheel" }, secretKeys: ["CERTIFICATE"], runKeys: [] });
    expect(answer.body.env).toEqual({ PLAIN: "wheel" });
    expect(answer.body.files).toEqual({
      CERTIFICATE: { encoding: "text", text: PEM, name: "dist.pem" },
      PROFILE: { encoding: "base64", text: "Zm9v" },
    });
    expect(build.environment).toEqual([
      { key: "CERTIFICATE", scope: "organization", isSecret: true, version: 1, isFile: true },
      { key: "PLAIN", scope: "organization", isSecret: false, version: 1 },
      { key: "PROFILE", scope: "organization", isSecret: false, version: 1, isFile: true },
    ]);
    const { body, text } = await call(works.admin, "GET", `/pipeline/${works.pipeline.id}/environment`);
    expect(body).toMatchObject([
      { key: "CERTIFICATE", isFile: true, fileEncoding: "text", fileName: "dist.pem" },
      { key: "PLAIN", value: "wheel" },
      { key: "PROFILE", isFile: true, fileEncoding: "base64", fileName: "PROFILE", value: "Zm9v" },
    ]);
    expect(text).not.toContain("c2VjcmV0");
    expect(body[1]).not.toHaveProperty("isFile");
  });

  it("gets them with its environment after its file is read", async () => {
    const works = await newBuildSetup();
    await make(works);
    await triggerBuild(works.admin, works.pipeline.id);
    const { body: job } = await pollForJobs(works.agent, ALL);
    expect(job).toMatchObject({ needsEnvironment: true, env: {} });
    expect(job.files).toBeUndefined();
    const headers = { "X-Lease": String(job.lease), "X-Agent-Features": ALL };
    const path = `/build/${job.build.id}`;
    await call(works.agent.token, "POST", `${path}/start`, undefined, headers);
    const found = { commitSha: "1".repeat(40) };
    const { body, status } = await call(works.agent.token, "POST", `${path}/environment`, found, headers);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        env: {},
        secretKeys: ["CERTIFICATE"],
        runKeys: [],
        files: { CERTIFICATE: { encoding: "text", text: PEM } },
      },
    });
  });

  it("omits the field where it has no files", async () => {
    const works = await newBuildSetup();
    const { answer } = await handedTo(works, ALL);
    expect(answer.status).toBe(200);
    expect(answer.body).not.toHaveProperty("files");
  });

  it("overrides and is overridden by key, like every variable", async () => {
    const works = await newBuildSetup();
    const { admin, pipeline, orgId } = works;
    await make(works);
    const nearer = { key: "CERTIFICATE", value: "plain", isSecret: false, scope: "pipeline", pipelineId: pipeline.id };
    const { id } = await create(admin, "/secrets/variables", nearer);
    const overridden = (await handedTo(works, ALL)).answer.body;
    expect(overridden).toMatchObject({ env: { CERTIFICATE: "plain" }, secretKeys: ["CERTIFICATE"] });
    expect(overridden.files).toBeUndefined();
    await call(admin, "PUT", `/secrets/variables/${id}`, { isFile: true, fileName: "n" });
    const { files, env: values } = (await handedTo(works, ALL)).answer.body;
    expect({ files, values }).toEqual({
      files: { CERTIFICATE: { encoding: "text", text: "plain", name: "n" } },
      values: {},
    });
    const run = (await handedTo(works, ALL, { envVariables: { CERTIFICATE: "of the run" } })).answer.body;
    expect(run).toMatchObject({ env: { CERTIFICATE: "of the run" }, runKeys: ["CERTIFICATE"] });
    expect(run.files).toBeUndefined();
    await call(admin, "PUT", `/secrets/variables/${id}`, { allowOverride: false });
    const wanted = { pipelineId: pipeline.id, branch: "main", envVariables: { CERTIFICATE: "x" } };
    expectProblem(await call(admin, "POST", "/build", wanted), 422, "invalid");
    expect(orgId).toBeDefined();
  });

  it.each(["", "environment,jobs"])("fails on an agent that reports %j, which gets none of them", async (features) => {
    const works = await newBuildSetup();
    await make(works);
    const { answer, build } = await handedTo(works, features);
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 204, text: "" });
    expect(build).toMatchObject({ status: "failed", reason: "environment", environment: null });
    expect(build.message).toBe("CERTIFICATE is a file, which this agent is too old to write: upgrade the agent.");
    expect((await pollOnce(works.agent)).status).toBe(204);
    expect((await handedTo(works, ALL)).answer.body.files).toBeDefined();
  });

  it("fails on an agent of 0.6.0 that requests its environment", async () => {
    const works = await newBuildSetup();
    await make(works);
    await triggerBuild(works.admin, works.pipeline.id);
    const { body: job } = await pollForJobs(works.agent, "environment,jobs");
    const headers = { "X-Lease": String(job.lease), "X-Agent-Features": "environment,jobs" };
    const path = `/build/${job.build.id}`;
    await call(works.agent.token, "POST", `${path}/start`, undefined, headers);
    const answer = await call(works.agent.token, "POST", `${path}/environment`, { commitSha: "1".repeat(40) }, headers);
    expectProblem(answer, 409, "lease-lost");
    expect(answer.text).not.toContain("c2VjcmV0");
    expect(await readBuild(works.admin, job.build.id)).toMatchObject({ status: "failed", reason: "environment" });
  });
});

describe("a file's value", () => {
  const setup = async () => {
    const works = await newBuildSetup();
    const [one, two] = [await make(works), await make(works, { key: "OTHER", value: "other-file" })];
    return { works, one, two };
  };
  const sealedOf = (id: string) =>
    env.DB.prepare("SELECT sealed FROM variable WHERE id = ?").bind(id).first<string>("sealed");

  it("opens only in its own place", async () => {
    const { works, one, two } = await setup();
    expect((await handedTo(works, ALL)).answer.body.files).toHaveProperty("OTHER");
    await env.DB.prepare("UPDATE variable SET sealed = ? WHERE id = ?")
      .bind(await sealedOf(one.id), two.id)
      .run();
    const { answer, build } = await handedTo(works, ALL);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect(build).toMatchObject({ status: "failed", reason: "environment" });
  });

  it("is resealed by a rotation, and by a change of its key", async () => {
    const { works, one } = await setup();
    const fresh = `s2:${btoa("the second key of tests, 32 byte")}`;
    const rotated = callDeployedWith({ SECRETS_KEYS: `${fresh},${env.SECRETS_KEYS}` });
    await rotated(env.OPERATOR_TOKEN ?? "", "POST", "/operator/rewrap", { limit: 500 });
    expect(await sealedOf(one.id)).toMatch(/^m1\.s2\./);
    const renamed = await rotated(works.admin, "PUT", `/secrets/variables/${one.id}`, { key: "RENAMED" });
    expect(renamed.body).toMatchObject({ key: "RENAMED", isFile: true, fileEncoding: "text" });
    await triggerBuild(works.admin, works.pipeline.id);
    const definition = "steps:\n  - run: make\n";
    await rotated(works.admin, "PUT", `/pipeline/${works.pipeline.id}`, { definition });
    const path = `/buildagent/${works.agent.id}/poll?wait=0`;
    const { body } = await rotated(works.agent.token, "GET", path, undefined, { "X-Agent-Features": ALL });
    expect(body.files).toMatchObject({ RENAMED: { text: PEM }, OTHER: { text: "other-file" } });
  });
});

describe("a pipeline file that names a file variable", () => {
  const checked = async ({ admin, pipeline }: BuildSetup, definition: string) =>
    (await call(admin, "POST", "/pipeline/check", { definition, pipelineId: pipeline.id })).body;

  it("reads its path, which is not secret, in a step, and not before a job has begun", async () => {
    const works = await newBuildSetup();
    await make(works);
    const step = (expression: string) => `steps: [{ run: make, env: { X: "\${{ ${expression} }}" } }]`;
    for (const name of ["vars.CERTIFICATE", "CERTIFICATE"])
      expect(await checked(works, step(name)), name).toMatchObject({ isValid: true });
    expect(await checked(works, step("secrets.CERTIFICATE"))).toMatchObject({ isValid: false });
    const jobs = (name: string) => `jobs:\n  a:\n    name: "\${{ ${name} }}"\n    steps: [{ run: make }]\n`;
    expect(await checked(works, jobs("vars.CERTIFICATE"))).toMatchObject({ isValid: false });
    expect(await checked(works, jobs("build.branch"))).toMatchObject({ isValid: true });
  });
});
