import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { call, create, expectProblem, newAgent, newOrganization, newPipeline, newRepository } from "../support/api.ts";
import { pollOnce, triggerBuild } from "../support/build-setup.ts";
import { storedRows } from "../support/stored-rows.ts";
import { AGENTS } from "./bad-input/agents.ts";
import { BUILDS } from "./bad-input/builds.ts";
import { NAMES } from "./bad-input/names.ts";
import { PIPELINES } from "./bad-input/pipelines.ts";
import { QUERIES } from "./bad-input/queries.ts";
import { REGISTRATIONS } from "./bad-input/registrations.ts";
import { REPOSITORIES } from "./bad-input/repositories.ts";
import { CANARY, foreign, furnishBoth, own } from "./bad-input/stage.ts";
import { TOKENS } from "./bad-input/tokens.ts";
import { VARIABLES } from "./bad-input/variables.ts";

beforeAll(furnishBoth);

const ROWS = [VARIABLES, REPOSITORIES, PIPELINES, BUILDS, AGENTS, REGISTRATIONS, QUERIES, TOKENS, NAMES].flat();

describe("the API, given bad input", () => {
  beforeEach(async () => {
    for (const { agent, job } of [own, foreign]) {
      const headers = { "X-Lease": String(job.lease) };
      expect(
        (await call(agent.token, "POST", `/buildagent/${agent.id}/heartbeat`, undefined, headers)).body.cancel,
      ).toBe(false);
    }
  });

  it("is tested with more than 180 rows, each with its own title", () => {
    expect(ROWS.length).toBeGreaterThan(180);
    const names = ROWS.map(({ is }) => is);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  it.each(ROWS.map((row) => [row.is, row] as const))("rejects %s", async (_, row) => {
    const { as = () => own.admin, method = "POST", path, body, headers = () => ({}), status, kind, pointer } = row;
    const before = await storedRows(own.orgId, foreign.orgId);
    const sent = typeof body === "function" ? body() : body;
    const answer = await call(as(), method, typeof path === "function" ? path() : path, sent, headers());
    expectProblem(answer, status, kind);
    if (pointer !== undefined && kind === "invalid") {
      expect(new Set(answer.body.errors.map((error: { pointer: string }) => error.pointer))).toEqual(
        new Set([pointer]),
      );
    }
    expect(answer.text).not.toContain(CANARY);
    expect(await storedRows(own.orgId, foreign.orgId)).toBe(before);
  });
});

describe("a variable with the name of an object property", () => {
  const NAMES = ["constructor", "toString", "hasOwnProperty", "valueOf", "__proto"];

  it("works like any other at every level of composition", async () => {
    const { orgId, admin } = await newOrganization();
    const { id: repoId } = await newRepository(admin);
    const { id: groupId } = await create(admin, "/secrets/groups", { name: "g" });
    const { id: pipelineId } = await newPipeline(admin, repoId, { groupIds: [groupId] });
    const agent = await newAgent(admin);
    const owners = [
      ...[
        { scope: "organization", orgId },
        { scope: "group", orgId, groupId },
      ],
      ...[
        { scope: "repository", repoId },
        { scope: "pipeline", pipelineId },
      ],
    ];
    const levels = owners.length + 1;
    for (const [level, owner] of owners.entries()) {
      for (const [n, key] of NAMES.entries()) {
        if (n < levels - level) {
          const body = { key, value: `of ${owner.scope}`, isSecret: false, ...owner };
          await create(admin, "/secrets/variables", body);
        }
      }
    }
    await triggerBuild(admin, pipelineId, { envVariables: { constructor: "of the run" } });
    const { body: job } = await pollOnce(agent);
    expect(job.env).toMatchObject({
      ...{ constructor: "of the run", toString: "of pipeline", hasOwnProperty: "of repository" },
      ...{ valueOf: "of group", __proto: "of organization" },
    });
  });
});
