import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { Variable } from "../../../src/protocol/variable.ts";
import { call, create, expectProblem, newPipeline, newRepository } from "../../support/api.ts";
import {
  type BuildSetup,
  completeJob,
  finishNewJob,
  newBuildSetup,
  pollOnce,
  readBuild,
  triggerBuild,
} from "../../support/build-setup.ts";

interface Row {
  works: BuildSetup;
  pipelineId: string;
  id: string;
  value: string;
  sealed: string;
  sealedVersion: number;
}

const rowOf = (id: string) =>
  env.DB.prepare("SELECT sealed, sealed_version AS sealedVersion FROM variable WHERE id = ?")
    .bind(id)
    .first<Pick<Row, "sealed" | "sealedVersion">>();

/** Writes into the database as anyone with access to it could. */
const plant = (id: string, { sealed, sealedVersion }: Pick<Row, "sealed" | "sealedVersion">) =>
  env.DB.prepare("UPDATE variable SET sealed = ?, sealed_version = ? WHERE id = ?")
    .bind(sealed, sealedVersion, id)
    .run();

const secret = async (works: BuildSetup, pipelineId: string, body: object): Promise<Row> => {
  const value = `secret-${crypto.randomUUID()}`;
  const { id } = await create<Variable>(works.admin, "/secrets/variables", { value, isSecret: true, ...body });
  const { sealed, sealedVersion } = (await rowOf(id))!;
  return { works, pipelineId, id, value, sealed, sealedVersion };
};

/** Runs a build of the row's pipeline. @returns the agent's answer, and the build */
const attempt = async ({ works, pipelineId }: Row) => {
  const { id } = await triggerBuild(works.admin, pipelineId);
  const answer = await pollOnce(works.agent);
  if (answer.status === 200) await completeJob(works.agent, answer.body);
  return { answer, build: await readBuild(works.admin, id) };
};

/** Opens one row only: renaming a secret opens and reseals it. */
const rename = async ({ works, id }: Row) => {
  const { status, body, text } = await call(works.admin, "PUT", `/secrets/variables/${id}`, { key: "RENAMED" });
  return { status, text: text.replace(body.requestId, "") };
};

const DAMAGED = { status: "failed", reason: "environment", environment: null };

/** Masks for a row's index, whose bits are organization, pipeline, scope and key: each bit alone, and all four. */
const DIFFERENCES = [8, 4, 2, 1, 15];

describe("a sealed value in another place", () => {
  const rows: Row[] = [];

  beforeAll(async () => {
    for (const works of [await newBuildSetup(), await newBuildSetup()]) {
      const second = await newRepository(works.admin, 2);
      const pipelines = [works.pipeline, await newPipeline(works.admin, second.id)];
      for (const { id: pipelineId, repoId } of pipelines) {
        for (const owner of [
          { scope: "repository", repoId },
          { scope: "pipeline", pipelineId },
        ]) {
          for (const key of [`${owner.scope}_A`, `${owner.scope}_B`]) {
            rows.push(await secret(works, pipelineId, { key, ...owner }));
          }
        }
      }
    }
  });

  it("opens in no other organization, pipeline, scope or key, nor where all four differ", async () => {
    expect(rows).toHaveLength(16);
    for (const row of rows) {
      const { answer } = await attempt(row);
      expect(Object.values(answer.body.env)).toContain(row.value);
    }
    const refused = new Map<string, BuildSetup>();
    const all = [...new Set(rows.map(({ works }) => works))];
    for (const slot of [0, 1, 2, 3]) {
      // One row of each pipeline at a time: each build has one wrong value.
      const targets = [0, 4, 8, 12].map((first) => first + slot);
      for (const differing of DIFFERENCES) {
        await Promise.all(targets.map((index) => plant(rows[index]!.id, rows[index ^ differing]!)));
        const builds = targets.map(async (index) => {
          const { works, pipelineId } = rows[index]!;
          refused.set((await triggerBuild(works.admin, pipelineId)).id, works);
        });
        await Promise.all(builds);
        for (const { agent } of all) {
          const answer = await pollOnce(agent);
          expect([answer.status, answer.text]).toEqual([204, ""]);
        }
      }
      await Promise.all(targets.map((index) => plant(rows[index]!.id, rows[index]!)));
    }
    expect(refused.size).toBe(16 * DIFFERENCES.length);
    for (const { admin } of all) {
      const failed = async () => (await call(admin, "GET", "/build?status=failed&limit=200")).body;
      await expect.poll(async () => (await failed()).length, { timeout: 10_000 }).toBe(8 * DIFFERENCES.length);
      for (const build of await failed()) {
        expect(build).toMatchObject(DAMAGED);
        refused.delete(build.id);
      }
    }
    expect(refused.size).toBe(0);
    for (const row of rows) expect(Object.values((await attempt(row)).answer.body.env)).toContain(row.value);
  });

  it("does not change the preview, which opens nothing", async () => {
    const [from, to] = [rows[0]!, rows[9]!];
    const preview = () => call(to.works.admin, "GET", `/pipeline/${to.pipelineId}/environment`);
    const before = await preview();
    await plant(to.id, from);
    const after = await preview();
    await plant(to.id, to);
    expect(after.body).toEqual(before.body);
    expect(after.status).toBe(200);
  });

  it("opens under no other name, owner, scope, organization, id or version of its own row", async () => {
    const row = rows[0]!;
    const other = rows[15]!;
    const columns = { key: "OTHER", owner_id: other.pipelineId, scope: "pipeline", sealed_version: 2 };
    for (const [column, value] of Object.entries(columns)) {
      const before = await env.DB.prepare(`SELECT ${column} AS kept FROM variable WHERE id = ?`).bind(row.id).first();
      const set = (to: unknown) =>
        env.DB.prepare(`UPDATE variable SET ${column} = ? WHERE id = ?`).bind(to, row.id).run();
      await set(value);
      const opened = await rename(row);
      await set(before!.kept);
      expect(opened.status, column).toBe(409);
    }
    const move = (orgId: string) =>
      env.DB.prepare("UPDATE variable SET org_id = ? WHERE id = ?").bind(orgId, row.id).run();
    await move(other.works.orgId);
    expect((await rename({ ...row, works: other.works })).status).toBe(409);
    await move(row.works.orgId);
    expect((await attempt(row)).answer.body.env).toMatchObject({ repository_A: row.value });
  });
});

describe("a tampered sealed value", () => {
  it("gets the same refusal for every changed letter, changed head bit and cut", async () => {
    const works = await newBuildSetup();
    const row = await secret(works, works.pipeline.id, { key: "KEY", scope: "organization", orgId: works.orgId });
    const bytes = new TextEncoder().encode(row.sealed);
    const head = row.sealed.lastIndexOf(".") + 1;
    // The body has 4 letters for 3 bytes, so every fifth letter covers each of the 4 positions in turn.
    const isTried = (at: number) => at <= head || at % 5 === 0 || at === bytes.length - 1;
    const tried = [...bytes.keys()].filter(isTried);
    const flipped = tried
      .flatMap((at) => (at < head ? [0, 1, 2, 3, 4, 5, 6, 7] : [at % 8]).map((bit) => [at, bit]))
      .map(([place, bit = 0]) =>
        String.fromCharCode(...bytes.map((byte, at) => (at === place ? byte ^ (1 << bit) : byte))),
      );
    const cut = tried.map((length) => row.sealed.slice(0, length));
    const answers = new Map<string, number>();
    for (const sealed of [...flipped, ...cut]) {
      await plant(row.id, { ...row, sealed });
      const answer = JSON.stringify(await rename(row));
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
    expect([...answers.values()]).toEqual([flipped.length + cut.length]);
    expect([...answers.keys()][0]).toContain("damaged");
    for (const sealed of [flipped[8 * 3]!, flipped.at(-1)!, cut[20]!]) {
      await plant(row.id, { ...row, sealed });
      expect((await attempt(row)).build).toMatchObject(DAMAGED);
    }
    await plant(row.id, row);
    expect((await rename(row)).status).toBe(200);
  });
});

describe("a partly readable environment", () => {
  it("is never handed out, whichever value cannot be opened", async () => {
    const works = await newBuildSetup();
    const { orgId, admin, pipeline, repository } = works;
    const group = await create(admin, "/secrets/groups", { name: "g" });
    await call(admin, "PUT", `/pipeline/${pipeline.id}`, { groupIds: [group.id] });
    const owners = [
      { scope: "organization", orgId },
      { scope: "group", orgId, groupId: group.id },
      { scope: "repository", repoId: repository.id },
      { scope: "pipeline", pipelineId: pipeline.id },
    ];
    const rows: Row[] = [];
    for (const owner of owners) {
      for (const key of ["SHARED", `OWN_${owner.scope}`])
        rows.push(await secret(works, pipeline.id, { key, ...owner }));
    }
    const ofRun = `of-the-run-${crypto.randomUUID()}`;
    const all = fc.subarray([...rows.keys()]);
    let whole = 0;
    await fc.assert(
      fc.asyncProperty(all, fc.boolean(), async (damaged, withRun) => {
        await Promise.all(
          rows.map((row, index) => plant(row.id, damaged.includes(index) ? { ...row, sealedVersion: 7 } : row)),
        );
        const { id } = await triggerBuild(admin, pipeline.id, withRun ? { envVariables: { SHARED: ofRun } } : {});
        const answer = await pollOnce(works.agent);
        if (damaged.length === 0) {
          expect(answer.body.env).toMatchObject({
            SHARED: withRun ? ofRun : rows[6]!.value,
            OWN_group: rows[3]!.value,
          });
          await completeJob(works.agent, answer.body);
          whole += 1;
          return;
        }
        expect([answer.status, answer.text]).toEqual([204, ""]);
        expect(await readBuild(admin, id)).toMatchObject(DAMAGED);
      }),
      {
        numRuns: 8,
        examples: [
          [[], true],
          [[], false],
          [[0], true],
          [[7], false],
        ],
      },
    );
    expect(whole).toBeGreaterThanOrEqual(2);
  });

  it("is not handed out if a group, the run's values or the clone credential has changed", async () => {
    const works = await newBuildSetup();
    const { admin, agent, pipeline, repository } = works;
    const group = await create(admin, "/secrets/groups", { name: "g" });
    await call(admin, "PUT", `/pipeline/${pipeline.id}`, { groupIds: [group.id] });
    await call(admin, "PUT", `/repository/${repository.id}/credential`, { kind: "token", value: "clone-token" });
    const expectRefused = async () => {
      const { id } = await triggerBuild(admin, pipeline.id, { envVariables: { A: "1" } });
      expect((await pollOnce(agent)).status).toBe(204);
      expect(await readBuild(admin, id)).toMatchObject(DAMAGED);
    };
    const job = await finishNewJob(works, { envVariables: { A: "1" } });
    expect(job).toMatchObject({ env: { A: "1" }, repository: { credential: { value: "clone-token" } } });
    const { cloneUrl } = repository;
    const address = "UPDATE repository SET clone_url = ? WHERE id = ?";
    for (const url of ["https://evil.example/acme/app-1.git", "https://git.example:8443/acme/app-1.git"]) {
      await env.DB.prepare(address).bind(url, repository.id).run();
      await expectRefused();
    }
    await env.DB.prepare(address).bind(cloneUrl, repository.id).run();
    await finishNewJob(works);
    await env.DB.prepare("DELETE FROM variable_group WHERE id = ?").bind(group.id).run();
    await expectRefused();
  });

  it("keeps a clone credential bound to its host", async () => {
    const { admin, repository } = await newBuildSetup();
    const path = `/repository/${repository.id}`;
    await call(admin, "PUT", `${path}/credential`, { kind: "token", value: "clone-token" });
    const move = (cloneUrl: string) => call(admin, "PUT", path, { cloneUrl });
    expect((await move("https://git.example/acme/renamed.git")).status).toBe(200);
    for (const url of ["https://evil.example/acme/app.git", "https://git.example:444/acme/app.git"]) {
      expectProblem(await move(url), 409, "in-use");
    }
    expect((await call(admin, "DELETE", `${path}/credential`)).status).toBe(204);
    expect((await move("https://evil.example/acme/app.git")).status).toBe(200);
  });
});
