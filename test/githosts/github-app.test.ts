import { generateKeyPairSync } from "node:crypto";
import { createEmulator, type Emulator } from "emulate";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HostProblem } from "../../src/githosts/core/host-api.ts";
import { appAt, githubAppReader, installationToken } from "../../src/githosts/github/app.ts";
import { AppKey } from "../../src/githosts/github/app-key.ts";

/* A third-party simulation of GitHub: it verifies our JWT, and decides what its tokens may do. */

const APP = { id: "12345", installation: "100" };
let github: Emulator;
let jwt: string;

beforeAll(async () => {
  github = await createEmulator({
    service: "github",
    port: 0,
    seed: {
      github: {
        users: [{ login: "octocat" }],
        orgs: [{ login: "acme" }, { login: "other" }],
        repos: [
          { owner: "acme", name: "shop", private: true },
          { owner: "acme", name: "tools", private: true },
          { owner: "other", name: "theirs", private: true },
        ],
        apps: [
          {
            ...{ app_id: 12345, slug: "millrace-acme", name: "Millrace" },
            permissions: { contents: "read", metadata: "read", statuses: "write", checks: "write" },
            events: ["push"],
            installations: [{ installation_id: 100, account: "acme", repository_selection: "all" }],
          },
        ],
      },
    },
  });
  const pem = github.generatedSecrets.find(({ kind }) => kind === "github.app_private_key")?.value ?? "";
  jwt = await (await AppKey.of(pem)).jwt(APP.id, Date.now());
});
afterAll(() => github.close());

/** GitHub answers 404, and this simulation 403. */
const HIDDEN = ["missing", "right"];

const problemOf = (answer: Promise<unknown>) =>
  answer.then(
    () => null,
    (error: HostProblem) => error.kind,
  );

describe("a GitHub App at a third-party simulation of GitHub", () => {
  it("is recognized by a JWT that we sign, and finds where it is installed", async () => {
    const app = appAt(github.url, jwt);
    expect(await app.facts()).toMatchObject({ id: APP.id });
    expect(await app.installations()).toMatchObject([{ id: APP.installation, account: "acme", isSuspended: false }]);
    expect((await app.installation(APP.installation)).permissions).toContain("checks:write");
    expect(await app.findInstallation("acme/shop")).toBe(APP.installation);
    expect(await problemOf(app.findInstallation("other/theirs"))).toBe("missing");
  });

  it("is not recognized by the JWT of another key, or of another App", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const other = await AppKey.of(privateKey.export({ type: "pkcs1", format: "pem" }).toString());
    expect(await problemOf(appAt(github.url, await other.jwt(APP.id, Date.now())).facts())).toBe("token");
    expect(await problemOf(installationToken(github.url, await other.jwt(APP.id, Date.now()), APP.installation))).toBe(
      "token",
    );
  });

  it("sees its repositories, but no private ones of others", async () => {
    const { token, expiresAt } = await installationToken(github.url, jwt, APP.installation);
    expect(expiresAt - Date.now()).toBeGreaterThan(50 * 60_000);
    const reader = githubAppReader(appAt(github.url, jwt), APP.installation, github.url, token);
    expect(await reader.repositoryByName("acme/shop")).toMatchObject({ fullName: "acme/shop", isPrivate: true });
    expect(HIDDEN).toContain(await problemOf(reader.repositoryByName("other/theirs")));
    expect(await reader.account()).toMatchObject({ name: "acme" });
  });

  it("gets a token that reads only one repository and writes nothing", async () => {
    const app = appAt(github.url, jwt);
    const all = await installationToken(github.url, jwt, APP.installation);
    const found = await githubAppReader(app, APP.installation, github.url, all.token).repositoryByName("acme/shop");
    const scope = { repositoryIds: [found.id], permissions: { contents: "read" } } as const;
    const { token } = await installationToken(github.url, jwt, APP.installation, {
      ...scope,
      repositoryIds: [...scope.repositoryIds],
    });
    const reader = githubAppReader(app, APP.installation, github.url, token);
    expect(await reader.repositoryByName("acme/shop")).toMatchObject({ id: found.id });
    expect(HIDDEN).toContain(await problemOf(reader.repositoryByName("acme/tools")));
    const write = await fetch(`${github.url}/repos/acme/shop/issues`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ title: "x" }),
    });
    expect([403, 404]).toContain(write.status);
  });

  it("gets no token for a place where it is not installed", async () => {
    expect(await problemOf(installationToken(github.url, jwt, "999"))).toBe("missing");
  });
});
