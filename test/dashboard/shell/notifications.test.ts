import { describe, expect, it } from "vitest";
import type { FollowedBuild } from "../../../src/dashboard/shell/followed-build.ts";
import { create, newOrganization, newToken } from "../../support/api.ts";
import { requestPage, signIn } from "./page-requests.ts";

const followed = async (cookie: string, query: string): Promise<string[]> => {
  const answer = await requestPage(`/followed?${query}`, { cookie });
  expect([query, answer.status]).toEqual([query, 200]);
  return ((await answer.json()) as { builds: FollowedBuild[] }).builds.map(({ title, note }) => `${title}: ${note}`);
};

describe("the builds for browser notifications", () => {
  it("are the token's own builds and the named branches' builds, each only on request", async () => {
    const { admin } = await newOrganization();
    const { id: repoId } = await create(admin, "/repository", {
      ...{ fullName: "acme/shop", cloneUrl: "https://git.example/acme/shop.git", gitHostRepoId: 1 },
    });
    const member = await newToken(admin, "member");
    await create(admin, `/repository/${repoId}/build`, { branch: "main" });
    await create(member, `/repository/${repoId}/build`, { branch: "feature/cart" });
    const cookie = (await signIn(member)).split(";")[0] ?? "";
    const [first, second] = ["#1 acme/shop waiting: main", "#2 acme/shop waiting: feature/cart"];
    expect(await followed(cookie, "")).toEqual([]);
    expect(await followed(cookie, "own=1")).toEqual([second]);
    expect(await followed(cookie, `branch=${repoId}:main`)).toEqual([first]);
    expect(await followed(cookie, `own=1&branch=${repoId}:main`)).toEqual([second, first]);
    for (const branch of ["main", `${repoId}:`, `:main`, "%00", "'--", "x".repeat(2000)])
      expect(await followed(cookie, `branch=${branch}`)).toEqual([]);
    const other = (await signIn((await newOrganization()).admin)).split(";")[0] ?? "";
    expect(await followed(other, `own=1&branch=${repoId}:main`)).toEqual([]);
    expect((await requestPage("/followed?own=1")).headers.get("Location")).toMatch(/^\/app\/sign-in/);
  });
});
