import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import type { Repository } from "../../../src/protocol/repository.ts";
import { call, expectProblem, newOrganization, newPipeline, newRepository } from "../../support/api.ts";
import { poolStub } from "../../support/deployment.ts";
import {
  attachRepository,
  deliver,
  eventHeaders,
  newConnection,
  newHook,
  type StoredConnection,
} from "../../support/hooks.ts";
import { newPush, SHA } from "../../support/host-events.ts";

let admin: string;
let orgId: string;
let repository: Repository;
let hook: StoredConnection;

beforeEach(async () => {
  ({ admin, orgId } = await newOrganization());
  repository = await newRepository(admin, 1);
  await newPipeline(admin, repository.id);
  hook = await newConnection(orgId, "github");
  await attachRepository(repository.id, hook);
});

const push = (to: StoredConnection, digit: string) => deliver(to, eventHeaders("github", "push"), newPush(SHA(digit)));
const generation = () =>
  env.DB.prepare("SELECT hook_generation FROM connection WHERE id = ?")
    .bind(hook.connectionId)
    .first("hook_generation");
/** Copies the connection's row. @returns a function that puts it back, like a restore of D1 to this time */
const copyOfConnection = async () => {
  const row = await env.DB.prepare("SELECT * FROM connection WHERE id = ?").bind(hook.connectionId).first();
  const values = Object.values(row ?? {});
  const insert = `INSERT OR REPLACE INTO connection VALUES (${values.map(() => "?").join(", ")})`;
  return async () => {
    await env.DB.prepare(insert)
      .bind(...values)
      .run();
    await attachRepository(repository.id, hook);
  };
};

it("a replaced hook stays invalid after the database is restored and the pool reports it", async () => {
  expect((await push(hook, "a")).body.builds).toHaveLength(1);
  const restore = await copyOfConnection();
  await call(admin, "POST", `/connection/${hook.connectionId}/rotate`);
  await call(admin, "POST", `/connection/${hook.connectionId}/rotate`);
  await restore();
  expect(await generation()).toBe(1);
  expectProblem(await push(hook, "b"), 410, "gone");
  expect((await call(admin, "GET", "/build")).body).toHaveLength(1);
  expect(await poolStub(orgId).restored("database")).toMatchObject({ ok: true });
  expect(await generation()).toBe(3);
  expectProblem(await push(await newHook(hook, 2), "b"), 410, "gone");
  expect((await push(await newHook(hook, 3), "b")).body.builds).toHaveLength(1);
});

it("a deleted connection's hook stays invalid after the database is restored", async () => {
  const restore = await copyOfConnection();
  expect((await call(admin, "DELETE", `/connection/${hook.connectionId}`)).status).toBe(204);
  await restore();
  expectProblem(await push(hook, "a"), 410, "gone");
  expect((await call(admin, "GET", "/build")).body).toEqual([]);
});
