import { beforeAll, describe, expect, it } from "vitest";
import { ROUTES } from "../../src/api/routes.ts";
import {
  call,
  create,
  expectProblem,
  newAgent,
  newOrganization,
  newPipeline,
  newRepository,
  newToken,
} from "../support/api.ts";

describe("PATCH", () => {
  let admin: string;
  let viewer: string;
  const ids: Record<string, string> = {};
  const CHANGES: Record<string, object> = {
    "/secrets/variables/:id": { value: "another" },
    "/secrets/groups/:id": { description: "another" },
    "/repository/:id": { defaultBranch: "another" },
    "/pipeline/:id": { configPath: "another.yml" },
    "/buildagent/:id": { isDraining: true },
  };

  beforeAll(async () => {
    const { orgId, admin: token } = await newOrganization();
    admin = token;
    viewer = await newToken(admin, "viewer");
    const variable = { key: "A", value: "v", isSecret: false, scope: "organization", orgId };
    ids["/secrets/variables/:id"] = (await create(admin, "/secrets/variables", variable)).id;
    ids["/secrets/groups/:id"] = (await create(admin, "/secrets/groups", { name: "g" })).id;
    ids["/repository/:id"] = (await newRepository(admin)).id;
    ids["/pipeline/:id"] = (await newPipeline(admin, ids["/repository/:id"] ?? "")).id;
    ids["/buildagent/:id"] = (await newAgent(admin)).id;
  });

  it.each(Object.entries(CHANGES))("on %s does the same as PUT", async (route, change) => {
    const path = route.replace(":id", ids[route] ?? "");
    const { body: before, headers } = await call(admin, "GET", path);
    expectProblem(await call(viewer, "PATCH", path, change), 403, "forbidden");
    expectProblem(await call(null, "PATCH", path, change), 401, "unauthenticated");
    expectProblem(await call(admin, "PATCH", route.replace(":id", crypto.randomUUID()), change), 404, "not-found");
    expectProblem(await call(admin, "PATCH", path, { colour: "red" }), 422, "invalid");
    expect((await call(admin, "GET", path)).body).toEqual(before);
    const etag = headers.get("ETag");
    if (etag) expectProblem(await call(admin, "PATCH", path, change, { "If-Match": '"v0"' }), 412, "stale-version");
    const changed = await call(admin, "PATCH", path, change, etag ? { "If-Match": etag } : {});
    expect(changed).toMatchObject({ status: 200, body: { ...before, ...change, ...moved(changed.body) } });
    expect((await call(null, "OPTIONS", path)).headers.get("Allow")).toContain("PUT, PATCH");
  });

  it("exists for every route that changes a record, and not for routes that replace one", async () => {
    const updates = ROUTES.filter(({ method, path }) => method === "PUT" && CHANGES[path]);
    expect(updates.map(({ alias }) => alias)).toEqual(Object.keys(CHANGES).map(() => "PATCH"));
    for (const whole of [`/repository/${ids["/repository/:id"]}/credential`, `/build/${crypto.randomUUID()}/log`]) {
      expectProblem(await call(admin, "PATCH", whole, {}), 405, "method-not-allowed");
    }
  });
});

/** Picks the fields that differ after every change. */
const moved = (record: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => ["updatedAt", "version", "status"].includes(name)));
