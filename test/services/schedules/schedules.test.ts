import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import { DatabaseSession } from "../../../src/db/session.ts";
import type { NamedSchedule } from "../../../src/pipeline/triggers/triggers.ts";
import type { Context } from "../../../src/services/core/context.ts";
import { Keys } from "../../../src/services/core/keys.ts";
import { syncFileSchedules } from "../../../src/services/schedules/schedules-of-file.ts";
import { call, create, expectProblem, newPipeline, newToken } from "../../support/api.ts";
import { type BuildSetup, newBuildSetup } from "../../support/build-setup.ts";

let setup: BuildSetup;
beforeAll(async () => {
  setup = await newBuildSetup();
});

const post = (more: object) =>
  call(setup.admin, "POST", "/schedule", { pipelineId: setup.pipeline.id, name: "n", cron: "0 3 * * *", ...more });

it("a schedule's record has the stored fields, the next times, and only the names of values", async () => {
  const { body, status } = await post({
    ...{ name: "nightly", cron: "30 2 * * *", timeZone: "Europe/Berlin", ref: "refs/heads/next" },
    envVariables: { SECRET_WORD: "swordfish", N: 1 },
  });
  expect(status).toBe(201);
  expect(body).toMatchObject({ ref: "refs/heads/next", envKeys: ["SECRET_WORD", "N"], source: "api", isActive: true });
  expect(body.next).toHaveLength(5);
  expect(body.next[0]).toBe(body.nextAt);
  const path = `/schedule/${body.id}`;
  const again = await call(setup.admin, "GET", path);
  expect(again.body).toEqual(body);
  expect((await call(setup.admin, "GET", `/schedule?pipelineId=${setup.pipeline.id}`)).body).toEqual([body]);
  expect((await call(setup.admin, "GET", `${path}/next?count=7`)).body.next.slice(0, 5)).toEqual(body.next);
  expectProblem(await call(setup.admin, "GET", `${path}/next?count=51`), 422, "invalid");
  const { results } = await env.DB.prepare("SELECT * FROM schedule").all();
  expect(JSON.stringify([again.text, results])).not.toContain("swordfish");
  // Clients send back fields that only a run changes. The service ignores them.
  const sent = { ...body, nextAt: "2020-01-01T00:00:00.000Z", name: "renamed" };
  expect((await call(setup.admin, "PUT", path, sent)).body).toMatchObject({ name: "renamed", nextAt: body.nextAt });
  expectProblem(await call(setup.admin, "PUT", path, { source: "file" }), 422, "invalid");
  expectProblem(await call(setup.admin, "PUT", path, { name: "x" }, { "If-Match": '"v1"' }), 412, "stale-version");
  const off = await call(setup.admin, "PUT", path, { isActive: false, envVariables: {} });
  expect(off.body).toMatchObject({ nextAt: null, next: [], envKeys: [] });
  expect((await call(setup.admin, "GET", path, undefined, { "If-None-Match": '"v3"' })).status).toBe(200);
  expect((await call(setup.admin, "DELETE", path)).status).toBe(204);
  expect((await call(setup.admin, "GET", path)).status).toBe(404);
});

it.each([
  [{ cron: "* * * * *" }, "/cron", "There must be at least 5 minutes between two runs"],
  [{ cron: "0 0 30 2 *" }, "/cron", "This date never occurs: its months have fewer days"],
  [{ cron: "0 0 3 * * *" }, "/cron", "A schedule has five fields"],
  [{ cron: "@daily" }, "/cron", "Write the five fields"],
  [{ cron: "\u0000" }, "/cron", ""],
  [{ cron: "0".repeat(201) }, "/cron", "must have at most 200 characters"],
  [{ timeZone: "Europe/Atlantis" }, "/timeZone", "Unknown time zone"],
  [{ timeZone: "+02:00" }, "/timeZone", "Unknown time zone"],
  [{ ref: "a..b" }, "/ref", "must not have .."],
  [{ envVariables: { LD_PRELOAD: "x" } }, "/envVariables/LD_PRELOAD", "could run code before the steps do"],
  [{ name: "" }, "/name", "must not be empty"],
  [{ nextAt: "2020-01-01T00:00:00.000Z" }, "", ""],
])("rejects the schedule %j with a reason", async (more, pointer, detail) => {
  const answer = await post(more);
  expectProblem(answer, 422, "invalid");
  if (pointer) expect(answer.body.errors[0]).toMatchObject({ pointer, detail: expect.stringContaining(detail) });
});

it("rejects a schedule for large values, a duplicate name, the limit of 20, or a foreign pipeline", async () => {
  const { id: pipelineId } = await newPipeline(setup.admin, setup.repository.id, { name: "full" });
  expectProblem(await post({ pipelineId, envVariables: { A: "x".repeat(17_000) } }), 413, "too-large");
  const first = await create(setup.admin, "/schedule", { pipelineId, name: "0", cron: "0 3 * * *" });
  const twice = await post({ pipelineId, name: "0" });
  expectProblem(twice, 409, "duplicate");
  expect(twice.body.existingId).toBe(first.id);
  for (let count = 1; count < 20; count++) expect((await post({ pipelineId, name: `${count}` })).status).toBe(201);
  const { status, body } = await post({ pipelineId, name: "20" });
  expect([status, body.type]).toEqual([429, "/problems/limit-reached"]);
  const other = await newBuildSetup();
  expectProblem(await post({ pipelineId: other.pipeline.id, name: "theirs" }), 422, "invalid");
  expect((await call(setup.admin, "DELETE", `/pipeline/${pipelineId}`)).status).toBe(204);
  expect((await call(setup.admin, "GET", `/schedule?pipelineId=${pipelineId}`)).body).toEqual([]);
});

it("rejects a schedule with values that builds may not override", async () => {
  const { status } = await call(setup.admin, "POST", "/secrets/variables", {
    ...{ key: "TARGET", value: "x", isSecret: false, scope: "pipeline", pipelineId: setup.pipeline.id },
    allowOverride: false,
  });
  expect(status).toBe(201);
  expectProblem(await post({ name: "over", envVariables: { TARGET: "y" } }), 422, "invalid");
});

const ofFile = async (wanted: NamedSchedule[], pipelineId: string, now = new Date()) => {
  const db = new DatabaseSession(env.DB, "first-primary");
  let count = 0;
  const newId = () => crypto.randomUUID().replace(/^.{14}./, () => `01900000-0000-7${count++ % 10}`.slice(0, 15));
  const context = { db, orgId: setup.orgId, now, at: now.toISOString(), keys: new Keys(env, db), newId };
  const { statements, shadowed } = await syncFileSchedules(context as unknown as Context, pipelineId, wanted);
  if (statements.length > 0) await db.run(...statements);
  return { statements: statements.length, shadowed };
};

it("adopts a file's schedules, keeps unchanged ones, and lets people only disable them", async () => {
  const { id: pipelineId } = await newPipeline(setup.admin, setup.repository.id, { name: "of file" });
  const list = async () => (await call(setup.admin, "GET", `/schedule?pipelineId=${pipelineId}`)).body;
  const one = { name: "one", cron: "0 3 * * *", timeZone: "UTC", env: { A: "1" } };
  const two = { name: "two", cron: "0 4 * * *", timeZone: "UTC", env: {} };
  await create(setup.admin, "/schedule", { pipelineId, name: "mine", cron: "0 5 * * *" });
  expect(await ofFile([one, two, { ...two, name: "mine" }], pipelineId)).toEqual({ statements: 2, shadowed: ["mine"] });
  expect((await list()).map(({ source }: { source: string }) => source).sort()).toEqual(["api", "file", "file"]);
  expect((await ofFile([one, two], pipelineId)).statements).toBe(0);
  const stored = (await list()).find(({ name }: { name: string }) => name === "one");
  const path = `/schedule/${stored.id}`;
  const refused = await call(setup.admin, "PUT", path, { cron: "0 6 * * *" });
  expectProblem(refused, 409, "conflict");
  expect(refused.body.detail).toBe(
    "The schedule is defined in .millrace.yml: change it there. Here you can only enable or disable it.",
  );
  expectProblem(await call(setup.admin, "PUT", path, { envVariables: { A: "2" } }), 409, "conflict");
  expectProblem(await call(setup.admin, "DELETE", path), 409, "conflict");
  expect((await call(setup.admin, "PUT", path, { ...stored, isActive: false })).body.isActive).toBe(false);
  await ofFile([{ ...one, cron: "0 7 * * *", env: { B: "2" } }], pipelineId);
  const after = await list();
  expect(after.map(({ name }: { name: string }) => name).sort()).toEqual(["mine", "one"]);
  expect(after.find(({ name }: { name: string }) => name === "one")).toMatchObject({
    ...{ id: stored.id, cron: "0 7 * * *", envKeys: ["B"], isActive: false },
  });
});

it("reading schedules requires a viewer, and writing them a maintainer", async () => {
  const member = await newToken(setup.admin, "member");
  const body = { pipelineId: setup.pipeline.id, name: "m", cron: "0 3 * * *" };
  expectProblem(await call(member, "POST", "/schedule", body), 403, "forbidden");
  expect((await call(member, "GET", "/schedule")).status).toBe(200);
});
