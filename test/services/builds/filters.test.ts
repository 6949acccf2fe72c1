import { beforeAll, describe, expect, it } from "vitest";
import { call, create, newAgent, newOrganization, newPipeline, newRepository } from "../../support/api.ts";

describe("a list that is filtered by name", () => {
  let admin: string;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    const { orgId, admin: token } = await newOrganization();
    admin = token;
    for (const n of [1, 2]) {
      const { id: repoId } = await newRepository(admin, n);
      const { id: pipelineId } = await newPipeline(admin, repoId, { name: `pipeline-${n}` });
      const { id: groupId } = await create(admin, "/secrets/groups", { name: `group ${n}` });
      const variable = { key: `KEY_${n}`, value: "v", isSecret: false, scope: "organization", orgId };
      const { id: variableId } = await create(admin, "/secrets/variables", variable);
      const { id: tokenId } = await create(admin, "/token", { name: `token ${n}`, kind: "api" });
      const { id: agentId } = await newAgent(admin, { name: `agent ${n}` });
      if (n === 2) Object.assign(ids, { repoId, pipelineId, groupId, variableId, tokenId, agentId });
    }
  });

  it.each([
    ["/repository", { fullName: "acme/app-2" }, "repoId"],
    ["/repository", { cloneUrl: "https://git.example/acme/app-2.git" }, "repoId"],
    ["/repository", { fullName: "acme/app-2", cloneUrl: "https://git.example/acme/app-2.git" }, "repoId"],
    ["/pipeline", { name: "pipeline-2" }, "pipelineId"],
    ["/secrets/groups", { name: "group 2" }, "groupId"],
    ["/secrets/groups", { name: "group 2", includeVariables: "true" }, "groupId"],
    ["/secrets/variables", { key: "KEY_2" }, "variableId"],
    ["/token", { name: "token 2" }, "tokenId"],
    ["/buildagent", { name: "agent 2" }, "agentId"],
    ["/buildagent", { name: "agent 2", limit: "1" }, "agentId"],
  ])("%s %o finds only the exact match", async (path, filter, id) => {
    const asked = async (query: object) =>
      (await call<{ id: string }[]>(admin, "GET", `${path}?${new URLSearchParams(query as Record<string, string>)}`))
        .body;
    expect((await asked(filter)).map((found) => found.id)).toEqual([ids[id]]);
    const [name = "", value = ""] = Object.entries(filter)[0] ?? [];
    for (const near of [
      value.slice(0, -1),
      value.toUpperCase() === value ? value.toLowerCase() : value.toUpperCase(),
    ]) {
      expect(await asked({ [name]: near })).toEqual([]);
    }
    expect((await asked({ [name]: "" })).length).toBeGreaterThan(1);
  });
});
