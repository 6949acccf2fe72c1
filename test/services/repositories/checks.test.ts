import { describe, expect, it } from "vitest";
import { call, create, expectProblem, newOrganization, newPipeline, newRepository } from "../../support/api.ts";

const check = async (token: string, body: object) => (await call(token, "POST", "/pipeline/check", body)).body;

const DEFAULTS = { builds: "pushes to the default branch; pull requests", supersede: "refs", schedules: [] };
const FINE = { isValid: true, mistakes: [], hints: [], triggers: DEFAULTS, jobs: null };

describe("POST /pipeline/check", () => {
  it("returns all mistakes at once, each with its place", async () => {
    const { admin } = await newOrganization();
    const definition = "naem: x\nsteps:\n  - run: echo hi\n    working-dir: sub\n  - name: no command\n";
    const { isValid, mistakes } = await check(admin, { definition });
    expect(isValid).toBe(false);
    expect(mistakes.map(({ line, column }: { line: number; column: number }) => [line, column])).toEqual([
      [1, 1],
      [4, 5],
      [5, 5],
    ]);
    expect(mistakes[0].suggestion).toBe("name");
    expect(mistakes[1].suggestion).toBe("working-directory");
    expect(await check(admin, { definition: "steps:\n  - run: echo hi\n" })).toEqual(FINE);
  });

  it("knows a pipeline's variables, and which of them are secret", async () => {
    const { orgId, admin } = await newOrganization();
    const repository = await newRepository(admin);
    const pipeline = await newPipeline(admin, repository.id);
    const owner = { scope: "organization", orgId };
    await create(admin, "/secrets/variables", { key: "REGION", value: "eu", isSecret: false, ...owner });
    await create(admin, "/secrets/variables", { key: "TOKEN", value: "hidden", isSecret: true, ...owner });
    const definition = (expression: string) => `steps:\n  - env: { X: "\${{ ${expression} }}" }\n    run: echo hi\n`;
    const ask = (expression: string) => check(admin, { definition: definition(expression), pipelineId: pipeline.id });
    for (const right of ["vars.REGION", "secrets.TOKEN", "REGION", "TOKEN"]) {
      expect(await ask(right), right).toEqual(FINE);
    }
    for (const wrong of ["vars.REGIONS", "vars.TOKEN", "secrets.REGION", "REGOIN"]) {
      const { isValid, mistakes } = await ask(wrong);
      expect(isValid, wrong).toBe(false);
      expect(mistakes, wrong).toMatchObject([{ line: 2 }]);
    }
    expect(await check(admin, { definition: definition("vars.REGIONS") })).toMatchObject({ isValid: true });
  });

  it("says which events build the file, and when its schedules run next", async () => {
    const { admin } = await newOrganization();
    const file = "supersede: all\nschedule: [{ name: yearly, cron: 0 0 1 1 * }]\nsteps: [{ run: make }]\n";
    const { triggers } = await check(admin, { definition: `on: { push: { branches: [main] }, tag: true }\n${file}` });
    const years = Array.from({ length: 5 }, (_, index) => new Date().getUTCFullYear() + 1 + index);
    expect(triggers).toEqual({
      ...{ builds: "pushes to main; tags", supersede: "all" },
      schedules: [{ name: "yearly", next: years.map((year) => `${year}-01-01T00:00:00.000Z`) }],
    });
    const wrong = await check(admin, { definition: `on: push\n${file}` });
    expect(wrong).toMatchObject({ isValid: false, triggers: null, mistakes: [{ line: 1, column: 5 }] });
    const none = await check(admin, { definition: `on: {}\n${file}` });
    expect(none).toMatchObject({ isValid: true, hints: [{ line: 1, column: 5 }] });
    expect(none.triggers.builds).toContain("nothing");
  });

  it("rejects a pipeline of another organization", async () => {
    const { admin } = await newOrganization();
    const definition = "steps:\n  - run: echo hi\n";
    const body = { definition, pipelineId: crypto.randomUUID() };
    expectProblem(await call(admin, "POST", "/pipeline/check", body), 422, "invalid");
  });

  it("keeps a wrong definition out of a pipeline, which keeps its current one", async () => {
    const { admin } = await newOrganization();
    const repository = await newRepository(admin);
    const definition = "steps:\n  - run: echo hi\n";
    const pipeline = await newPipeline(admin, repository.id, { definition });
    const answer = await call(admin, "PUT", `/pipeline/${pipeline.id}`, { definition: "steps:\n  - rnu: x\n" });
    expectProblem(answer, 422, "invalid");
    expect(answer.body.errors[0]).toMatchObject({ pointer: "/definition", detail: expect.stringMatching(/^2:5: /) });
    expect((await call(admin, "GET", `/pipeline/${pipeline.id}`)).body.definition).toBe(definition);
  });
});
