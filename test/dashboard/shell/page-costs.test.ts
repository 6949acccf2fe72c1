import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { PAGES } from "../../../src/dashboard/shell/page-routes.ts";
import { keepUp } from "../../../src/services/upkeep/upkeep.ts";
import { create, newPipeline, newRepository } from "../../support/api.ts";
import { writeEndedBuild } from "../../support/ended-builds.ts";
import { type FilledOrganization, newFilledOrganization } from "../../support/filled-organization.ts";
import { type Person, personWith } from "./page-requests.ts";

/** The pages for a job and for flaky tests read a pipeline's earlier builds. */
const MOST = { rounds: 3, rows: 400 };
const MANY = { repositories: 10, pipelines: 40, builds: 300, variables: 120, groups: 20, tokens: 20 };

describe("every page in an organization with many records", () => {
  let person: Person;
  let furnished: FilledOrganization;
  let ended = "";
  /** The newest build in a pipeline with few builds. */
  let newest = "";

  beforeAll(async () => {
    furnished = await newFilledOrganization();
    const { admin, orgId, repository, pipeline } = furnished;
    const owners: { repoId: string; pipelineId: string }[] = [{ repoId: repository.id, pipelineId: pipeline.id }];
    for (let n = 0; n < MANY.repositories; n++) {
      const { id: repoId } = await newRepository(admin, 1000 + n);
      for (let p = 0; p < MANY.pipelines / MANY.repositories; p++)
        owners.push({ repoId, pipelineId: (await newPipeline(admin, repoId, { name: `p${p}` })).id });
    }
    for (let n = 0; n < MANY.builds; n++) {
      const of = n % 3 === 0 ? owners[0]! : owners[n % owners.length]!;
      const status = n % 7 === 0 ? "failed" : "succeeded";
      ended = await writeEndedBuild(env.DB, { orgId, ...of, at: Date.now() - 600_000 * (n + 1), status });
      if (n === 1) newest = ended;
    }
    for (let n = 0; n < MANY.variables; n++)
      await create(admin, "/secrets/variables", {
        ...{ key: `KEY_${n}`, value: "v", isSecret: n % 2 === 0 },
        ...(n % 3 === 0 ? { scope: "repository", repoId: repository.id } : { scope: "organization", orgId }),
      });
    for (let n = 0; n < MANY.groups; n++) await create(admin, "/secrets/groups", { name: `group ${n}` });
    for (let n = 0; n < MANY.tokens; n++) await create(admin, "/token", { name: `token ${n}`, kind: "api" });
    await keepUp(env, new Date(), { buildDays: 90, auditDays: 400 });
    person = await personWith(admin);
  }, 120_000);

  /** Returns the page's path with ids of existing records. */
  const addressOf = (path: string): string => {
    const { ids } = furnished;
    const byNoun: Record<string, string | undefined> = {
      builds: ended,
      jobs: ids["/job"],
      agents: ids["/buildagent"],
      variables: ids["/secrets/variables"],
      groups: ids["/secrets/groups"],
      repositories: ids["/repository"],
      pipelines: ids["/pipeline"],
      schedules: ids["/schedule"],
      tokens: ids["/token"],
      connections: ids["/connection"],
    };
    return path.replace(":id", byNoun[path.split("/")[1] ?? ""] ?? "none").replace(/:\w+/, "none");
  };

  it("finds a pipeline's last green build without reading other pipelines' builds", async () => {
    const { headers, status } = await person.open(`/builds/${newest}`);
    const [, rounds, rows] = /rounds=(\d+) read=(\d+)/.exec(headers.get("Server-Timing") ?? "") ?? [];
    expect({ status, rounds }).toEqual({ status: 200, rounds: "1" });
    expect(Number(rows)).toBeLessThan(MANY.builds / 10);
  });

  it("queries D1 in few rounds, for few rows", async () => {
    const costs: Record<string, { rounds: number; rows: number; status: number }> = {};
    for (const { path } of PAGES) {
      const { headers, status } = await person.open(addressOf(path));
      const [, rounds, rows] = /rounds=(\d+) read=(\d+)/.exec(headers.get("Server-Timing") ?? "") ?? [];
      costs[path] = { rounds: Number(rounds), rows: Number(rows), status };
    }
    const shown = Object.entries(costs).filter(([, { status }]) => status === 200);
    expect(shown.length).toBeGreaterThan(PAGES.length - 3);
    expect(shown.filter(([, { rounds, rows }]) => rounds > MOST.rounds || rows > MOST.rows)).toEqual([]);
    // The page for one build or job names its owners without reading all repositories and pipelines.
    const single = ["/builds/:id", "/builds/:id/compare", "/jobs/:id"].map((path) => costs[path]?.rows ?? MOST.rows);
    expect(Math.max(...single)).toBeLessThan(MANY.repositories);
    // Lists query once. The audit must read an entry before it knows the entry's subject.
    const lists = shown.filter(([path]) => !path.includes(":id") && path !== "/" && path !== "/audit");
    expect(lists.filter(([, { rounds }]) => rounds > 1)).toEqual([]);
  });
});
