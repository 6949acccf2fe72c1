import { describe, expect, it } from "vitest";
import { rank } from "../../../src/dashboard/palette/row.ts";
import { create, newOrganization, newToken } from "../../support/api.ts";
import { cookieFor, requestPage, signIn } from "../shell/page-requests.ts";

interface Row {
  kind: string;
  name: string;
  note: string;
  href: string;
}

const rowsOf = async (cookie: string, word = ""): Promise<Row[]> => {
  const answer = await requestPage(`/palette?q=${encodeURIComponent(word)}`, { cookie });
  expect([word, answer.status]).toEqual([word, 200]);
  return ((await answer.json()) as { rows: Row[] }).rows;
};

const HOSTILE = '"><img src=x onerror=alert(1)>';

/** Creates an organization with one record of every kind that has a name. */
const furnished = async () => {
  const { admin } = await newOrganization();
  const { id: repoId } = await create(admin, "/repository", {
    ...{ fullName: "acme/shop", cloneUrl: "https://git.example/acme/shop.git", gitHostRepoId: 1 },
  });
  const { id: pipelineId } = await create(admin, "/pipeline", { repoId, name: "ci" });
  await create(admin, "/secrets/groups", { name: HOSTILE, description: "of releases" });
  await create(admin, "/secrets/variables", {
    ...{ scope: "repository", repoId, key: "API_TOKEN", value: "never shown here", isSecret: true },
  });
  const { id: buildId } = await create(admin, `/repository/${repoId}/build`, { branch: "feature/cart" });
  const cookieOf = async (token: string) => (await signIn(token)).split(";")[0] ?? "";
  return { admin, repoId, pipelineId, buildId, cookieOf };
};

describe("the palette", () => {
  it("finds everything with a name, as text, and no values", async () => {
    const { admin, repoId, pipelineId, buildId, cookieOf } = await furnished();
    const rows = await rowsOf(await cookieOf(admin));
    const hrefs = Object.groupBy(rows, ({ kind }) => kind);
    expect(hrefs.build?.map(({ name, href }) => [name, href])).toEqual([
      ["#1 acme/shop / ci", `/app/builds/${buildId}`],
    ]);
    expect(hrefs.pipeline?.map(({ name, href }) => [name, href])).toEqual([
      ["acme/shop / ci", `/app/pipelines/${pipelineId}`],
    ]);
    expect(hrefs.run?.[0]?.href).toBe(`/app/builds/new?pipelineId=${pipelineId}`);
    expect(hrefs.repository?.[0]?.href).toBe(`/app/repositories/${repoId}`);
    expect(hrefs.variable?.map(({ name, note }) => [name, note])).toEqual([["API_TOKEN", "acme/shop"]]);
    expect(hrefs.group?.[0]?.name).toBe(HOSTILE);
    expect(JSON.stringify(rows)).not.toContain("never shown");
  });

  it("finds builds by branch, tag and the start of their commit, and nothing by other words", async () => {
    const { admin, repoId, buildId, cookieOf } = await furnished();
    const cookie = await cookieOf(admin);
    expect((await rowsOf(cookie, "feature/cart")).map(({ href }) => href)).toEqual([`/app/builds/${buildId}`]);
    const { id } = await create(admin, `/repository/${repoId}/build`, { branch: "refs/tags/v2.3" });
    for (const word of ["v2.3", "refs/tags/v2.3"])
      expect(await rowsOf(cookie, word)).toMatchObject([{ href: `/app/builds/${id}`, note: "waiting v2.3" }]);
    for (const word of ["feature", "abcd1234", "..", "a b", "'; --", HOSTILE, "x".repeat(5000)])
      expect([word, await rowsOf(cookie, word)]).toEqual([word, []]);
  });

  it("finds only what the role may use, in its own organization, and requires a session", async () => {
    const { admin, cookieOf } = await furnished();
    const viewer = await rowsOf(await cookieOf(await newToken(admin, "viewer")));
    expect(viewer.some(({ kind }) => kind === "pipeline")).toBe(true);
    expect(viewer.filter(({ kind }) => kind === "run")).toEqual([]);
    expect(await rowsOf(await cookieFor("admin"))).toEqual([]);
    expect((await requestPage("/palette")).headers.get("Location")).toMatch(/^\/app\/sign-in/);
  });
});

describe("the palette's ranking", () => {
  const entries = ["Drain mac-3", "acme/machines", "mac-3", "Run acme/shop / ci", "#412 acme/shop / ci"].map(
    (name) => ({
      ...{ name, note: name.startsWith("#") ? "failed feature/cart 77ab12c" : "", kind: "page" },
    }),
  );
  const found = (question: string) => rank(entries, question).map(({ name }) => name);

  it("puts names that start with the text first, then words in names, then notes", () => {
    expect(found("mac")).toEqual(["mac-3", "Drain mac-3", "acme/machines"]);
    expect(found("412")).toEqual(["#412 acme/shop / ci"]);
    expect(found("77ab")).toEqual(["#412 acme/shop / ci"]);
    expect(found("ci shop run")).toEqual(["Run acme/shop / ci"]);
    expect(found("nothing")).toEqual([]);
    expect(found("")).toHaveLength(entries.length);
  });
});
