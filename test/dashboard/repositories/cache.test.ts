import { expect, it } from "vitest";
import { byBranch } from "../../../src/dashboard/repositories/repository-cache.tsx";
import { newToken } from "../../support/api.ts";
import { findEntry, saveCache } from "../../support/cache.ts";
import { newStartedBuild } from "../../support/new-builds.ts";
import { personWith } from "../shell/page-requests.ts";

const entry = (branch: string, bytes: number, lastUsed: string) => ({
  ...{ key: "k", sha256: "", codec: "gzip" as const, pipelineId: "p", createdAt: "2026-11-01T00:00:00Z" },
  ...{ branch, bytes, lastUsed },
});

it("byBranch sums up the entries of each branch, largest first", () => {
  const entries = [entry("main", 5, "2026-11-02"), entry("topic", 9, "2026-11-01"), entry("main", 7, "2026-11-01")];
  expect(byBranch(entries)).toEqual([
    { branch: "main", bytes: 12, entries: 2, lastUsed: "2026-11-02" },
    { branch: "topic", bytes: 9, entries: 1, lastUsed: "2026-11-01" },
  ]);
  expect(byBranch([])).toEqual([]);
});

it("the cache page is visible to viewers, and lets members empty the cache", async () => {
  const { admin, agent, job } = await newStartedBuild();
  const here = `/repositories/${job.build.repoId}`;
  const viewer = await personWith(await newToken(admin, "viewer"));
  expect((await viewer.open(here)).text).toContain(`href="/app${here}/cache"`);
  expect((await viewer.open(here)).text).toContain(`href="/app${here}/flaky"`);
  expect((await viewer.open(`${here}/cache`)).text).toContain("The cache is empty.");
  await saveCache(agent, job, "v1/npm", new Uint8Array(2048));
  const page = await viewer.open(`${here}/cache`);
  expect(page.text).toContain("<bdi>main</bdi>");
  expect(page.text).not.toContain("Empty cache");
  expect((await viewer.submit(`${here}/cache/empty`)).status).toBe(403);
  const member = await personWith(await newToken(admin, "member"));
  expect((await member.open(`${here}/cache`)).text).toContain("Empty cache");
  expect((await member.submit(`${here}/cache/empty`)).to).toContain(`/app${here}/cache`);
  expect(await findEntry(agent, job, "v1/npm")).toBeNull();
});
