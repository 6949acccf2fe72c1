import { describe, expect, it } from "vitest";
import { call, create, expectProblem, newOrganization, newRepository } from "../../support/api.ts";

describe("a clone address", () => {
  const wanted = (gitHostRepoId: number, cloneUrl: string) => ({ gitHostRepoId, fullName: "acme/app", cloneUrl });

  it("is stored as git hosts write it, however a person pastes it", async () => {
    const { admin } = await newOrganization();
    const pasted = await create(admin, "/repository", wanted(1, "https://somebody@github.com/acme/app/"));
    expect(pasted.cloneUrl).toBe("https://github.com/acme/app.git");
    const path = `/repository/${pasted.id}`;
    const moved = await call(admin, "PUT", path, { cloneUrl: "https://acme@dev.azure.com/acme/project/_git/app" });
    expect(moved.body.cloneUrl).toBe("https://dev.azure.com/acme/project/_git/app");
    expect((await call(admin, "GET", path)).body.cloneUrl).toBe("https://dev.azure.com/acme/project/_git/app");
    const page = { cloneUrl: "https://github.com/acme/app/tree/main" };
    expectProblem(await call(admin, "PUT", path, page), 422, "invalid");
    expectProblem(await call(admin, "POST", "/repository", wanted(2, page.cloneUrl)), 422, "invalid");
  });
});

describe("a build's branch", () => {
  it("defaults to the repository's default branch, and may be a full ref", async () => {
    const { admin } = await newOrganization();
    const repository = await newRepository(admin);
    await call(admin, "PUT", `/repository/${repository.id}`, { defaultBranch: "refs/heads/trunk" });
    expect((await call(admin, "GET", `/repository/${repository.id}`)).body.defaultBranch).toBe("trunk");
    const path = `/repository/${repository.id}/build`;
    const branches = [
      [path, {}, "trunk"],
      [path, { branch: null }, "trunk"],
      [path, { branch: "refs/heads/feature/x" }, "feature/x"],
      [path, { branch: "refs/merge-requests/7/head" }, "refs/merge-requests/7/head"],
      ["/build", { repoId: repository.id }, "trunk"],
    ] as const;
    for (const [where, body, branch] of branches) {
      expect((await create(admin, where, body)).branch).toBe(branch);
    }
    for (const branch of ["refs/heads/", "refs/heads/-x", "refs/notes/x", "refs/heads/refs/heads/x"]) {
      expectProblem(await call(admin, "POST", path, { branch }), 422, "invalid");
    }
  });

  it("stays the first request's when the request is repeated after the default changed", async () => {
    const { admin } = await newOrganization();
    const { id } = await newRepository(admin);
    const send = () => call(admin, "POST", `/repository/${id}/build`, {}, { "Idempotency-Key": "one" });
    const first = await send();
    await call(admin, "PUT", `/repository/${id}`, { defaultBranch: "trunk" });
    expect((await send()).body).toMatchObject({ id: first.body.id, branch: "main" });
  });
});

describe("an SSH key for cloning", () => {
  it("is rejected where ssh could not use it, and the current one stays", async () => {
    const { admin } = await newOrganization();
    const cloneUrl = "git@git.example:acme/app.git";
    const { id } = await create(admin, "/repository", { gitHostRepoId: 1, fullName: "acme/app", cloneUrl });
    const path = `/repository/${id}/credential`;
    const key = `-----BEGIN OPENSSH PRIVATE KEY-----\n${btoa("openssh-key-v1\0\0\0\0\x04none12")}\n-----END OPENSSH PRIVATE KEY-----\n`;
    expect((await call(admin, "PUT", path, { kind: "ssh-key", value: key })).status).toBe(200);
    const refused = await call(admin, "PUT", path, { kind: "ssh-key", value: "ssh-ed25519 AAAAcanary me@example" });
    expectProblem(refused, 422, "invalid");
    expect(refused.body.errors).toEqual([{ pointer: "/value", detail: "is a public key: enter the private key" }]);
    expect((await call(admin, "DELETE", path)).status).toBe(204);
  });
});
