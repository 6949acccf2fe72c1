import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import {
  type Answer,
  call,
  create,
  expectProblem,
  newOrganization,
  newPipeline,
  newRepository,
  newToken,
} from "../support/api.ts";

interface Listed {
  id: string;
  variables?: unknown[];
}

describe("groups", () => {
  it("are listed with their variable count, and with their variables on request", async () => {
    const { orgId, admin } = await newOrganization();
    const group = await create(admin, "/secrets/groups", { name: "shared", description: "for all" });
    const owner = { scope: "group", orgId, groupId: group.id };
    await create(admin, "/secrets/variables", { key: "A", value: "1", isSecret: false, ...owner });
    await create(admin, "/secrets/variables", { key: "B", value: "hidden-value", isSecret: true, ...owner });
    const listed = await call(admin, "GET", `/secrets/groups?orgId=${orgId}`);
    expect(listed.body).toEqual([{ ...group, variableCount: 2 }]);
    const whole = await call(admin, "GET", "/secrets/groups?includeVariables=true");
    expect(whole.body[0].variables.map(({ key }: { key: string }) => key)).toEqual(["A", "B"]);
    expect(whole.text).not.toContain("hidden-value");
  });

  it("are listed with at most 200 variables on a page, and a larger group without them", async () => {
    const { orgId, admin } = await newOrganization();
    const sizes = [120, 80, 1, 201, 0, 199, 1];
    const ids: string[] = [];
    for (const [n, size] of sizes.entries()) {
      const { id } = await create(admin, "/secrets/groups", { name: `group ${n}` });
      ids.push(id);
      await env.DB.prepare(
        `INSERT INTO variable (id, org_id, scope, owner_id, key, value, is_secret, is_active, allow_override, created_at, updated_at)
          SELECT ?1 || '-' || key, ?2, 'group', ?1, 'KEY_' || key, 'x', 0, 1, 1, ?4, ?4 FROM json_each(?3)`,
      )
        .bind(id, orgId, JSON.stringify(Array(size).fill(0)), "2026-01-01T00:00:00.000Z")
        .run();
    }
    const pages: [number, number | undefined][][] = [];
    let next: string | undefined = "/secrets/groups?includeVariables=true";
    while (next) {
      const { body, headers }: Answer<Listed[]> = await call(admin, "GET", next);
      pages.push(body.map((one) => [ids.indexOf(one.id), one.variables?.length]));
      next = /<https:\/\/[^/]+([^>]+)>; rel="next"/.exec(headers.get("Link") ?? "")?.[1];
    }
    expect(pages).toEqual([
      [
        [0, 120],
        [1, 80],
      ],
      [
        [2, 1],
        [3, undefined],
        [4, 0],
        [5, 199],
      ],
      [[6, 1]],
    ]);
  });

  it("have unique names, and are deleted with their variables unless a pipeline uses them", async () => {
    const { orgId, admin } = await newOrganization();
    const group = await create(admin, "/secrets/groups", { name: "shared" });
    const again = await call(admin, "POST", "/secrets/groups", { name: "shared" });
    expectProblem(again, 409, "duplicate");
    expect(again.body.existingId).toBe(group.id);
    const owner = { scope: "group", orgId, groupId: group.id };
    await create(admin, "/secrets/variables", { key: "A", value: "1", isSecret: false, ...owner });
    const repository = await newRepository(admin);
    const pipeline = await newPipeline(admin, repository.id, { groupIds: [group.id] });
    expectProblem(await call(admin, "DELETE", `/secrets/groups/${group.id}`), 409, "in-use");
    expect((await call(admin, "GET", "/secrets/variables")).body).toHaveLength(1);
    await call(admin, "PUT", `/pipeline/${pipeline.id}`, { groupIds: [] });
    expect((await call(admin, "DELETE", `/secrets/groups/${group.id}`)).status).toBe(204);
    expect((await call(admin, "GET", "/secrets/variables")).body).toEqual([]);
    expectProblem(await call(admin, "GET", `/secrets/groups/${group.id}`), 404, "not-found");
  });

  it("can change their name and description", async () => {
    const { admin } = await newOrganization();
    const group = await create(admin, "/secrets/groups", { name: "one", description: "x" });
    const changed = await call(admin, "PUT", `/secrets/groups/${group.id}`, { name: "two", description: null });
    expect(changed.body).toMatchObject({ id: group.id, name: "two", description: null, variableCount: 0 });
    await create(admin, "/secrets/groups", { name: "one" });
    expectProblem(await call(admin, "PUT", `/secrets/groups/${group.id}`, { name: "one" }), 409, "duplicate");
  });
});

describe("repositories", () => {
  const wanted = { gitHostRepoId: 7, fullName: "acme/app", cloneUrl: "https://git.example/acme/app.git" };

  it("can be connected, read, changed and removed", async () => {
    const { orgId, admin } = await newOrganization();
    const repository = await create(admin, "/repository", wanted);
    expect(repository).toMatchObject({
      ...wanted,
      orgId,
      defaultBranch: "main",
      defaultPipelineId: null,
      isActive: true,
    });
    expect((await call(admin, "GET", "/repository")).body).toEqual([repository]);
    const path = `/repository/${repository.id}`;
    const changed = await call(admin, "PUT", path, { ...repository, defaultBranch: "trunk" });
    expect(changed.body).toMatchObject({ ...wanted, defaultBranch: "trunk" });
    const pipeline = await newPipeline(admin, repository.id);
    await create(admin, "/secrets/variables", {
      key: "A",
      value: "1",
      isSecret: false,
      scope: "pipeline",
      pipelineId: pipeline.id,
    });
    expect((await call(admin, "DELETE", path)).status).toBe(204);
    expectProblem(await call(admin, "GET", path), 404, "not-found");
    expectProblem(await call(admin, "GET", `/pipeline/${pipeline.id}`), 404, "not-found");
    expect((await call(admin, "GET", "/secrets/variables")).body).toEqual([]);
  });

  it("are unique for each id at a host", async () => {
    const { admin } = await newOrganization();
    const first = await create(admin, "/repository", wanted);
    const again = await call(admin, "POST", "/repository", { ...wanted, fullName: "acme/renamed" });
    expectProblem(again, 409, "duplicate");
    expect(again.body.existingId).toBe(first.id);
    await create(admin, "/repository", { ...wanted, cloneUrl: "https://other.example/acme/app.git" });
  });
});

describe("pipelines", () => {
  it("have defaults, and a repository's first one becomes its default", async () => {
    const { orgId, admin } = await newOrganization();
    const repository = await newRepository(admin);
    const first = await newPipeline(admin, repository.id);
    expect(first).toMatchObject({
      ...{ orgId, repoId: repository.id, name: "ci", configPath: ".millrace.yml", definition: null, groupIds: [] },
      ...{ requires: {}, timeoutSeconds: 3600, maxParallel: null, maxAttempts: 2, isActive: true },
    });
    await newPipeline(admin, repository.id, { name: "second" });
    expect((await call(admin, "GET", `/repository/${repository.id}`)).body.defaultPipelineId).toBe(first.id);
    expect((await call(admin, "GET", `/pipeline?repoId=${repository.id}`)).body).toHaveLength(2);
    expect((await call(admin, "DELETE", `/pipeline/${first.id}`)).status).toBe(204);
    expect((await call(admin, "GET", `/repository/${repository.id}`)).body.defaultPipelineId).toBeNull();
  });

  it("keep their groups' order", async () => {
    const { admin } = await newOrganization();
    const repository = await newRepository(admin);
    const ids: string[] = [];
    for (const name of ["a", "b", "c"]) ids.push((await create(admin, "/secrets/groups", { name })).id);
    const order = [ids[2], ids[0], ids[1]];
    const pipeline = await newPipeline(admin, repository.id, { groupIds: order });
    expect((await call(admin, "GET", `/pipeline/${pipeline.id}`)).body.groupIds).toEqual(order);
    const changed = await call(admin, "PUT", `/pipeline/${pipeline.id}`, { groupIds: ids });
    expect(changed.body.groupIds).toEqual(ids);
    expect((await call(admin, "GET", `/pipeline/${pipeline.id}`)).body.groupIds).toEqual(ids);
  });

  it("preview a build's environment, each value before those it overrides, without secrets", async () => {
    const { orgId, admin } = await newOrganization();
    const repository = await newRepository(admin);
    const group = await create(admin, "/secrets/groups", { name: "g" });
    const pipeline = await newPipeline(admin, repository.id, { groupIds: [group.id] });
    const owners = [
      { scope: "organization", orgId },
      { scope: "group", orgId, groupId: group.id },
      { scope: "repository", repoId: repository.id },
      { scope: "pipeline", pipelineId: pipeline.id },
    ];
    for (const owner of owners) {
      const isSecret = owner.scope === "organization";
      await create(admin, "/secrets/variables", { key: "K", value: `of ${owner.scope}`, isSecret, ...owner });
    }
    await create(admin, "/secrets/variables", { key: "OPEN", value: "seen", isSecret: false, ...owners[0] });
    const { body, text } = await call(admin, "GET", `/pipeline/${pipeline.id}/environment?branch=main`);
    expect(body.map(({ key }: { key: string }) => key)).toEqual(["K", "OPEN"]);
    expect(body[0]).toMatchObject({ scope: "pipeline", isSecret: true });
    expect(body[0].overrides.map(({ scope }: { scope: string }) => scope)).toEqual([
      "repository",
      "group",
      "organization",
    ]);
    expect(body[1]).toMatchObject({ scope: "organization", isSecret: false, value: "seen" });
    expect(text).not.toContain("of pipeline");
  });
});

describe("tokens", () => {
  it("are shown once, have the permissions of their role, and stop working when revoked or expired", async () => {
    const { admin } = await newOrganization();
    const made = await create(admin, "/token", { name: "ci", kind: "api", role: "viewer" });
    expect(made.token).toMatch(/^mrt_/);
    expect((await call(made.token, "GET", "/token/self")).body).toMatchObject({
      id: made.id,
      role: "viewer",
      name: "ci",
    });
    expectProblem(await call(made.token, "GET", "/token"), 403, "forbidden");
    const listed = await call(admin, "GET", "/token");
    expect(listed.body).toHaveLength(2);
    expect(listed.text).not.toContain(made.token);
    expect((await call(admin, "DELETE", `/token/${made.id}`)).status).toBe(204);
    expectProblem(await call(made.token, "GET", "/token/self"), 401, "unauthenticated");
    expectProblem(
      await call(admin, "POST", "/token", { name: "x", kind: "api", expiresAt: "2020-01-01T00:00:00Z" }),
      422,
      "invalid",
    );
  });

  it("of the operator can only create organizations", async () => {
    const { orgId, admin } = await newOrganization();
    const operator = env.OPERATOR_TOKEN ?? "";
    expectProblem(await call(operator, "POST", "/organization", { id: orgId, name: "Again" }), 409, "duplicate");
    expectProblem(await call(operator, "GET", "/secrets/variables"), 403, "forbidden");
    expectProblem(await call(admin, "POST", "/organization", { id: "mine", name: "Mine" }), 403, "forbidden");
    const second = await call(operator, "POST", `/organization/${orgId}/token`);
    expect(second.status).toBe(201);
    expect((await call(second.body.token, "GET", "/token/self")).body.role).toBe("admin");
    expectProblem(await call(operator, "POST", "/organization/no-such-org/token"), 404, "not-found");
    for (const id of ["Bad", "-a", "a_b", "", "a".repeat(65)]) {
      expectProblem(await call(operator, "POST", "/organization", { id, name: "x" }), 422, "invalid");
    }
  });

  it("of a member can trigger builds but not change records", async () => {
    const { admin } = await newOrganization();
    const repository = await newRepository(admin);
    const member = await newToken(admin, "member");
    expect((await call(member, "POST", `/repository/${repository.id}/build`, { branch: "main" })).status).toBe(201);
    const viewer = await newToken(admin, "viewer");
    expectProblem(
      await call(viewer, "POST", `/repository/${repository.id}/build`, { branch: "main" }),
      403,
      "forbidden",
    );
  });
});
