import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { NOUNS } from "../../../src/protocol/organization.ts";
import { VERSION } from "../../../src/protocol/version.ts";
import { call, create, expectProblem, newOrganization, newRepository, newToken } from "../../support/api.ts";
import { sendArtifact } from "../../support/artifacts.ts";
import { type BuildSetup, finishNewJob, newBuildSetup, triggerBuild } from "../../support/build-setup.ts";
import { saveCache } from "../../support/cache.ts";
import { callDeployedWith, databaseWithHook, poolStub } from "../../support/deployment.ts";
import { writeEndedBuild } from "../../support/ended-builds.ts";
import { COMMIT, callWithLease, startNextJob } from "../../support/jobs.ts";
import { newPlannedBuild } from "../../support/new-builds.ts";
import { reportedTest, testReport } from "../../support/tests.ts";

const operator = env.OPERATOR_TOKEN ?? "";
const SECRET = "a value that no export has";

interface Line {
  noun: string;
  record: Record<string, unknown>;
}

/** Follows the pages from a path. @returns the first line, the other lines, and the number of pages */
const follow = async (token: string, path: string, read: typeof call = call) => {
  const lines: Line[] = [];
  let pages = 0;
  for (let next: string | null = path; next !== null; pages++) {
    const { status, headers, text }: { status: number; headers: Headers; text: string } = await read(
      token,
      "GET",
      next,
    );
    expect([status, headers.get("Content-Type")], text).toEqual([200, "application/jsonl"]);
    lines.push(
      ...text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    );
    const [, url]: (string | undefined)[] = /<(.*)>; rel="next"/.exec(headers.get("Link") ?? "") ?? [];
    next = url ? url.slice(new URL(url).origin.length) : null;
  }
  return { head: lines[0] as unknown, lines: lines.slice(1), pages };
};

const furnish = async ({ orgId, admin, repository, pipeline }: BuildSetup) => {
  await env.DB.prepare(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 230)
     INSERT INTO variable_group (id, org_id, name, created_at, updated_at)
     SELECT printf('0198c5d2-%04d-7000-8000-', n) || ?2, ?1, 'group ' || n, '', '' FROM numbers`,
  )
    .bind(orgId, crypto.randomUUID().slice(-12))
    .run();
  const secret = { value: SECRET, isSecret: true, scope: "organization", orgId };
  await create(admin, "/secrets/variables", { ...secret, key: "SECRET" });
  await create(admin, "/secrets/variables", { ...secret, key: "PLAIN", value: "to see", isSecret: false });
  await create(admin, "/connection", { kind: "gitea", name: "host", webUrl: "https://git.example" });
  const credential = { kind: "token", username: "builder", value: SECRET };
  await call(admin, "PUT", `/repository/${repository.id}/credential`, credential);
  const nightly = { pipelineId: pipeline.id, name: "nightly", cron: "0 3 * * *", envVariables: { KEY: SECRET } };
  await create(admin, "/schedule", nightly);
};

describe("GET /organization/{id}/export", () => {
  it("covers all data of the organization, without secrets, tokens or their hashes", async () => {
    const setup = await newBuildSetup();
    const { orgId, admin, agent } = setup;
    await furnish(setup);
    await triggerBuild(admin, setup.pipeline.id, { envVariables: { RUN: SECRET } });
    const job = await startNextJob(agent);
    const { build } = job;
    expect((await callWithLease(agent, job, "POST", "environment", { commitSha: COMMIT })).status).toBe(200);
    await sendArtifact(agent, job, "report", { "a.txt": "text" });
    await saveCache(agent, job, "v1/npm", new Uint8Array(9));
    const report = await callWithLease(agent, job, "PUT", "tests", testReport([reportedTest(1)]));
    expect(report, report.text).toMatchObject({ status: 200 });
    await callWithLease(agent, job, "POST", "finish", { status: "succeeded", exitCode: 0 });
    await poolStub(orgId).flush();
    for (const token of [admin, operator]) {
      const { head, lines, pages } = await follow(token, `/organization/${orgId}/export`);
      expect(head).toEqual({ version: VERSION, organization: orgId, exportedAt: expect.any(String), nouns: NOUNS });
      const count = (noun: string) => lines.filter((line) => line.noun === noun).length;
      expect(NOUNS.map((noun) => [noun, count(noun)])).toEqual([
        ...[
          ["organization", 1],
          ["token", 1],
          ["connection", 1],
          ["repository", 1],
          ["credential", 1],
          ["pipeline", 1],
          ["schedule", 1],
          ["group", 230],
        ],
        ...[
          ["variable", 2],
          ["build", 1],
          ["artifact", 1],
          ["tests", 1],
          ["cache", 1],
          ["audit", expect.any(Number)],
          ["agent", 1],
        ],
      ]);
      expect(new Set(lines.map(({ record }) => JSON.stringify(record))).size).toBe(lines.length);
      expect(pages).toBe(NOUNS.length + 2);
      const recordOf = (noun: string) => lines.find((line) => line.noun === noun)?.record;
      expect(recordOf("artifact")).toMatchObject({ jobId: build.id, name: "report", bytes: 4, files: 1 });
      expect(recordOf("build")).toMatchObject({ id: build.id, status: "succeeded", environment: expect.any(Array) });
      expect(recordOf("tests")).toMatchObject({ counts: { total: 11, failed: 1 } });
      expect(recordOf("cache")).toMatchObject({ repoId: build.repoId, key: "v1/npm", bytes: 9 });
      // A cache entry's sum is not a secret.
      const text = JSON.stringify(lines.filter(({ noun }) => noun !== "cache"));
      for (const secret of [SECRET, admin, agent.token]) expect(text).not.toContain(secret);
      expect(text).not.toMatch(/[0-9a-f]{64}|[Ss]ealed|[Hh]ash/);
      expect(text).toContain("to see");
    }
    const { body } = await call(admin, "GET", "/audit?action=organization.export");
    expect(body.map(({ actor }: { actor: string }) => actor.split(":")[0])).toEqual(["operator", "token"]);
  });

  it("covers one noun where one is named", async () => {
    const setup = await newBuildSetup();
    await furnish(setup);
    const { lines, pages } = await follow(setup.admin, `/organization/${setup.orgId}/export?noun=group`);
    expect([lines.length, pages]).toEqual([230, 3]);
    expect(lines.every(({ noun }) => noun === "group")).toBe(true);
  });

  it("holds one build with several jobs in memory at a time, and four of its test reports", async () => {
    const setup = await newPlannedBuild(
      `jobs:\n${Array.from({ length: 12 }, (_, n) => `  j${n}: { steps: [{ run: x }] }\n`).join("")}`,
    );
    const { orgId, admin, agent, repository, pipeline, buildId } = setup;
    for (let n = 0; n < 12; n++) {
      const job = await startNextJob(agent);
      await callWithLease(agent, job, "PUT", "tests", testReport([reportedTest(n)]));
      await callWithLease(agent, job, "POST", "finish", { status: "succeeded", exitCode: 0 });
    }
    await poolStub(orgId).flush();
    for (let n = 1; n < 4; n++) {
      const owners = { orgId, repoId: repository.id, pipelineId: pipeline.id };
      const id = await writeEndedBuild(env.DB, { ...owners, at: Date.now() - 86_400_000 * n });
      const query = "UPDATE build_summary SET jobs = (SELECT jobs FROM build_summary WHERE id = ?) WHERE id = ?";
      await env.DB.prepare(query).bind(buildId, id).run();
    }
    const most = new Map<string, number>();
    const underWay = new Map<string, number>();
    const ARCHIVE = new Proxy(env.ARCHIVE, {
      get: (archive) => async (key: string) => {
        const kind = key.split("/")[0]!;
        const now = (underWay.get(kind) ?? 0) + 1;
        underWay.set(kind, now);
        most.set(kind, Math.max(now, most.get(kind) ?? 0));
        const found = await archive.get(key);
        underWay.set(kind, underWay.get(kind)! - 1);
        return found;
      },
    });
    const read = callDeployedWith({ ARCHIVE }) as typeof call;
    const of = (noun: string) => follow(admin, `/organization/${orgId}/export?noun=${noun}`, read);
    expect((await of("build")).lines).toHaveLength(4);
    expect(most).toEqual(new Map([["record", 1]]));
    const { lines, pages } = await of("tests");
    expect(lines.map(({ record }) => record.jobKey)).toEqual(Array.from({ length: 12 }, (_, n) => `j${n}`));
    expect([pages, most.get("tests")]).toEqual([1, 4]);
  });

  it("ends a page of caches where it is long", async () => {
    const { orgId, admin } = await newBuildSetup();
    for (let n = 2; n <= 6; n++) await newRepository(admin, n);
    const entry = JSON.stringify({ key: "k".repeat(LIMITS.cacheKeyCharacters), ref: "refs/heads/main", madeAt: "" });
    const full = Array.from({ length: LIMITS.cacheEntries }, () => ({ key: "cache/x", customMetadata: { entry } }));
    const list = async () => ({ objects: full, truncated: false });
    const ARCHIVE = new Proxy(env.ARCHIVE, { get: () => list });
    const read = callDeployedWith({ ARCHIVE }) as typeof call;
    const { lines, pages } = await follow(admin, `/organization/${orgId}/export?noun=cache`, read);
    expect(new Set(lines.map(({ record }) => record.repoId)).size).toBe(6);
    expect([lines.length, pages]).toEqual([6 * LIMITS.cacheEntries, 2]);
  });

  it("requests no build with one job and no tests", async () => {
    const setup = await newBuildSetup();
    for (let made = 0; made < 3; made++) {
      const { build } = await finishNewJob(setup);
      await call(setup.admin, "POST", `/build/${build.id}/cancel`);
    }
    const { headers } = await call(setup.admin, "GET", `/organization/${setup.orgId}/export?noun=tests`);
    expect(Number(/rounds=(\d+)/.exec(headers.get("Server-Timing") ?? "")?.[1])).toBeLessThanOrEqual(4);
  });

  it("continues where a build is deleted after it was listed", async () => {
    const setup = await newBuildSetup();
    const ids: string[] = [];
    for (let made = 0; made < 6; made++) ids.push((await finishNewJob(setup)).build.id);
    for (const [batch, id] of ids.entries()) {
      let batches = 0;
      const DB = databaseWithHook(async () => {
        if (batches++ === batch) await call(setup.admin, "DELETE", `/build/${id}`);
      });
      const path = `/organization/${setup.orgId}/export?noun=build`;
      const { status, text } = await (callDeployedWith({ DB }) as typeof call)(setup.admin, "GET", path);
      expect(status, text).toBe(200);
    }
  });

  it("requires an admin of the organization or the operator", async () => {
    const [own, other] = [await newOrganization(), await newOrganization()];
    const path = `/organization/${own.orgId}/export`;
    expectProblem(await call(await newToken(own.admin, "maintainer"), "GET", path), 403, "forbidden");
    expectProblem(await call(other.admin, "GET", path), 404, "not-found");
    expectProblem(await call(operator, "GET", "/organization/never-there/export"), 404, "not-found");
    for (const query of ["noun=password", `cursor=${btoa("token/'--")}`, `cursor=${btoa("guard/")}`]) {
      expectProblem(await call(own.admin, "GET", `${path}?${query}`), 422, "invalid");
    }
  });
});
