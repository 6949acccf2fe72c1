import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/protocol/limits.ts";
import {
  call,
  create,
  expectProblem,
  newOrganization,
  newPipeline,
  newRepository,
  newToken,
} from "../../support/api.ts";

const plain = (orgId: string, more: object = {}) => ({
  ...{ key: "REGION", value: "eu", isSecret: false, scope: "organization", orgId },
  ...more,
});

describe("POST /secrets/variables", () => {
  it("creates a variable at each scope, with only its owner's id", async () => {
    const { orgId, admin } = await newOrganization();
    const repository = await newRepository(admin);
    const pipeline = await newPipeline(admin, repository.id);
    const group = await create(admin, "/secrets/groups", { name: "shared" });
    const owners = [
      { scope: "organization", orgId },
      { scope: "group", orgId, groupId: group.id },
      { scope: "repository", repoId: repository.id },
      { scope: "pipeline", pipelineId: pipeline.id },
    ];
    for (const owner of owners) {
      const answer = await call(admin, "POST", "/secrets/variables", {
        key: "KEY",
        value: "v",
        isSecret: false,
        ...owner,
      });
      const ids = { repoId: null, groupId: null, pipelineId: null, ...owner, orgId };
      expect(answer).toMatchObject({
        status: 201,
        body: { key: "KEY", value: "v", isActive: true, version: 1, ...ids },
      });
      expect(answer.headers.get("Location")).toBe(`/secrets/variables/${answer.body.id}`);
      expect((await call(admin, "GET", `/secrets/variables/${answer.body.id}`)).body).toEqual(answer.body);
    }
  });

  it("never returns a secret's value, and never stores it unencrypted", async () => {
    const { orgId, admin } = await newOrganization();
    const value = `canary-${crypto.randomUUID()}`;
    const answer = await call(
      admin,
      "POST",
      "/secrets/variables",
      plain(orgId, { key: "TOKEN", value, isSecret: true }),
    );
    expect(answer.status).toBe(201);
    const { id } = answer.body;
    const seen = [
      answer,
      await call(admin, "GET", "/secrets/variables"),
      await call(admin, "GET", `/secrets/variables/${id}`),
      await call(admin, "PUT", `/secrets/variables/${id}`, { value: `${value}2`, description: "new" }),
      await call(admin, "GET", "/audit"),
    ];
    for (const { status, text } of seen) {
      expect(status).toBeLessThan(300);
      expect(text).not.toContain(value);
    }
    const stored = await env.DB.prepare("SELECT * FROM variable WHERE id = ?").bind(id).first();
    expect(JSON.stringify(stored)).not.toContain(value);
    expect(stored).toMatchObject({ value: null, sealed: expect.stringMatching(/^m1\.s1\./) });
  });

  it("suggests the intended field, and repeats nothing of the request", async () => {
    const { orgId, admin } = await newOrganization();
    const body = { ...plain(orgId), isSecret: undefined, isSecrte: true, value: "do-not-repeat" };
    const answer = await call(admin, "POST", "/secrets/variables", body);
    expectProblem(answer, 422, "invalid");
    expect(answer.text).toContain("did you mean isSecret?");
    expect(answer.text).not.toContain("isSecrte");
    expect(answer.text).not.toContain("do-not-repeat");
  });

  it("rejects an unknown owner and another organization's alike", async () => {
    const [mine, other] = [await newOrganization(), await newOrganization()];
    const foreign = await newRepository(other.admin);
    const answers = [];
    for (const repoId of [foreign.id, crypto.randomUUID()]) {
      const body = { key: "K", value: "v", isSecret: false, scope: "repository", repoId };
      const answer = await call(mine.admin, "POST", "/secrets/variables", body);
      expectProblem(answer, 422, "invalid");
      answers.push({ ...answer.body, requestId: "" });
    }
    expect(answers[0]).toEqual(answers[1]);
  });

  it("accepts a value of 48 KiB and no more", async () => {
    const { orgId, admin } = await newOrganization();
    expect(
      (await call(admin, "POST", "/secrets/variables", plain(orgId, { value: "é".repeat(24 * 1024) }))).status,
    ).toBe(201);
    const answer = await call(
      admin,
      "POST",
      "/secrets/variables",
      plain(orgId, { key: "B", value: `${"é".repeat(24 * 1024)}x` }),
    );
    expectProblem(answer, 413, "too-large");
  });

  it("answers a duplicate with the existing id", async () => {
    const { orgId, admin } = await newOrganization();
    const first = await create(admin, "/secrets/variables", plain(orgId));
    const answer = await call(admin, "POST", "/secrets/variables", plain(orgId, { value: "other" }));
    expectProblem(answer, 409, "duplicate");
    expect(answer.body.existingId).toBe(first.id);
    expect((await call(admin, "GET", `/secrets/variables/${first.id}`)).body.value).toBe("eu");
  });

  it("warns about a secret that is hard to mask", async () => {
    const { orgId, admin } = await newOrganization();
    const make = (key: string, value: string) =>
      create(admin, "/secrets/variables", plain(orgId, { key, value, isSecret: true }));
    expect((await make("A", "abc")).warnings).toEqual(["short"]);
    expect((await make("B", "***")).warnings).toEqual(["short", "mask-text"]);
    expect((await make("C", "password")).warnings).toEqual(["common-word"]);
    expect((await make("D", "long enough")).warnings).toBeUndefined();
    expect((await make("E", ' {\n "private_key": "x" }')).warnings).toEqual(["json"]);
    expect((await make("F", "{ no json }")).warnings).toBeUndefined();
  });
});

describe("an organization's count of variables", () => {
  const variableCount = (orgId: string) =>
    env.DB.prepare("SELECT variable_count FROM organization WHERE id = ?").bind(orgId).first("variable_count");
  const setCount = (orgId: string, count: number) =>
    env.DB.prepare("UPDATE organization SET variable_count = ? WHERE id = ?").bind(count, orgId).run();

  it("follows creations and deletions, also with their owner, and counts no other organization's", async () => {
    const [one, other] = [await newOrganization(), await newOrganization()];
    const { admin, orgId } = one;
    const repository = await newRepository(admin);
    const pipeline = await newPipeline(admin, repository.id);
    const group = await create(admin, "/secrets/groups", { name: "shared" });
    const path = "/secrets/variables";
    const { id } = await create(admin, path, plain(orgId));
    await create(admin, path, plain(orgId, { scope: "group", groupId: group.id }));
    const ofRepository = { ...plain(orgId, { scope: "repository", repoId: repository.id }), orgId: undefined };
    await create(admin, path, ofRepository);
    await create(admin, path, { ...ofRepository, scope: "pipeline", repoId: undefined, pipelineId: pipeline.id });
    await create(other.admin, path, plain(other.orgId));
    expectProblem(await call(admin, "POST", path, plain(orgId)), 409, "duplicate");
    expect(await variableCount(orgId)).toBe(4);
    await call(admin, "DELETE", `${path}/${id}`);
    expect(await variableCount(orgId)).toBe(3);
    await call(admin, "DELETE", `/secrets/groups/${group.id}`);
    await call(admin, "DELETE", `/pipeline/${pipeline.id}`);
    await call(admin, "DELETE", `/repository/${repository.id}`);
    expect([await variableCount(orgId), await variableCount(other.orgId)]).toEqual([0, 1]);
  });

  it("stops at the limit, which concurrent requests do not exceed", async () => {
    const { admin, orgId } = await newOrganization();
    const make = (key: string) => call(admin, "POST", "/secrets/variables", plain(orgId, { key }));
    await setCount(orgId, LIMITS.variables - 2);
    const statuses = (await Promise.all(["A", "B", "C", "D"].map(make))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 201, 429, 429]);
    expectProblem(await make("E"), 429, "limit-reached");
    expect(await variableCount(orgId)).toBe(LIMITS.variables);
    await setCount(orgId, LIMITS.variables - 1);
    expect((await make("E")).status).toBe(201);
  });
});

describe("PUT /secrets/variables/{id}", () => {
  const make = async (more: object = {}) => {
    const { orgId, admin } = await newOrganization();
    return { admin, variable: await create(admin, "/secrets/variables", plain(orgId, more)) };
  };

  it("changes the sent fields and keeps the rest", async () => {
    const { admin, variable } = await make({ description: "where" });
    const { body } = await call(admin, "PUT", `/secrets/variables/${variable.id}`, { value: "us", isActive: false });
    expect(body).toMatchObject({ key: "REGION", value: "us", isActive: false, description: "where", version: 2 });
    expect((await call(admin, "GET", "/secrets/variables")).body).toEqual([]);
    expect((await call(admin, "GET", "/secrets/variables?includeInactive=true")).body).toHaveLength(1);
    const cleared = await call(admin, "PUT", `/secrets/variables/${variable.id}`, { description: null });
    expect(cleared.body).toMatchObject({ description: null, value: "us", version: 3 });
  });

  it("accepts a record that was read and edited, and rejects changes to read-only fields", async () => {
    const { admin, variable } = await make();
    const edited = { ...variable, value: "ap" };
    expect((await call(admin, "PUT", `/secrets/variables/${variable.id}`, edited)).body.value).toBe("ap");
    for (const change of [{ id: crypto.randomUUID() }, { orgId: "other" }, { scope: "group" }, { version: 9 }]) {
      expectProblem(await call(admin, "PUT", `/secrets/variables/${variable.id}`, change), 422, "invalid");
    }
  });

  it("never unmasks a secret", async () => {
    const { admin, variable } = await make({ isSecret: true, value: "very-secret-text" });
    const path = `/secrets/variables/${variable.id}`;
    expectProblem(await call(admin, "PUT", path, { isSecret: false }), 422, "invalid");
    expect((await call(admin, "PUT", path, { isSecret: false, value: "public" })).body).toMatchObject({
      value: "public",
    });
  });

  it("turns a plain variable into a secret, and keeps a renamed secret readable", async () => {
    const { admin, variable } = await make();
    const path = `/secrets/variables/${variable.id}`;
    expect((await call(admin, "PUT", path, { isSecret: true })).body).not.toHaveProperty("value");
    const before = await env.DB.prepare("SELECT sealed FROM variable WHERE id = ?").bind(variable.id).first();
    expect((await call(admin, "PUT", path, { key: "PLACE" })).body.key).toBe("PLACE");
    const after = await env.DB.prepare("SELECT sealed FROM variable WHERE id = ?").bind(variable.id).first();
    expect(after?.sealed).not.toBe(before?.sealed);
  });
});

describe("the list of variables", () => {
  it("filters by scope and owner, and rejects an unknown filter", async () => {
    const { orgId, admin } = await newOrganization();
    const repository = await newRepository(admin);
    await create(admin, "/secrets/variables", plain(orgId));
    const own = { key: "OWN", value: "1", isSecret: false, scope: "repository", repoId: repository.id };
    await create(admin, "/secrets/variables", own);
    const keys = async (query: string) =>
      (await call(admin, "GET", `/secrets/variables${query}`)).body.map(({ key }: { key: string }) => key);
    expect(await keys("")).toEqual(["REGION", "OWN"]);
    expect(await keys("?scope=organization")).toEqual(["REGION"]);
    expect(await keys(`?repoId=${repository.id}`)).toEqual(["OWN"]);
    expect(await keys(`?orgId=${orgId}&scope=repository`)).toEqual(["OWN"]);
    expect(await keys(`?groupId=${crypto.randomUUID()}`)).toEqual([]);
    for (const query of ["?scope=galaxy", "?repoId=x", "?includeInactive=maybe", "?colour=red", "?orgId=another-org"]) {
      expectProblem(await call(admin, "GET", `/secrets/variables${query}`), 422, "invalid");
    }
  });

  it("requires a viewer to read, and a maintainer to write", async () => {
    const { orgId, admin } = await newOrganization();
    const [viewer, member] = [await newToken(admin, "viewer"), await newToken(admin, "member")];
    expect((await call(viewer, "GET", "/secrets/variables")).status).toBe(200);
    expectProblem(await call(member, "POST", "/secrets/variables", plain(orgId)), 403, "forbidden");
    const maintainer = await newToken(admin, "maintainer");
    const variable = await create(maintainer, "/secrets/variables", plain(orgId));
    expectProblem(await call(viewer, "DELETE", `/secrets/variables/${variable.id}`), 403, "forbidden");
    expect((await call(maintainer, "DELETE", `/secrets/variables/${variable.id}`)).status).toBe(204);
    expectProblem(await call(viewer, "GET", `/secrets/variables/${variable.id}`), 404, "not-found");
  });
});
