import { beforeAll, describe, expect, it } from "vitest";
import type { AuditEntry } from "../../../src/protocol/audit.ts";
import {
  type Answer,
  call,
  create,
  expectProblem,
  newOrganization,
  newPipeline,
  newRepository,
} from "../../support/api.ts";
import { pollOnce, triggerBuild } from "../../support/build-setup.ts";
import { poolStub } from "../../support/deployment.ts";

const LINUX = { platform: 2, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: true };

/** False claims of an agent. Each would give it builds that it must not get. */
const CLAIMS: [string, object][] = [
  ["a label", { labels: ["docker", "release"] }],
  ["an empty list of labels", { labels: [] }],
  ["a capability", { canBuildIOS: true }],
  ["another platform", { platform: 1 }],
  ["the end of draining", { isDraining: false }],
  ["all of it, along with what it may change", { version: "9.9.9", labels: ["release"], canBuildAndroid: true }],
];

describe("an agent's own token", () => {
  let admin = "";
  let orgId = "";
  let registration: { id: string; token: string };
  let agent: { id: string; token: string };
  const path = () => `/buildagent/${agent.id}`;
  const put = (token: string, body: object): Promise<Answer<never>> => call(token, "PUT", path(), body);

  beforeAll(async () => {
    ({ admin, orgId } = await newOrganization());
    const wanted = { name: "linux machines", kind: "registration", labels: ["docker"] };
    registration = await create(admin, "/token", wanted);
    agent = await create(registration.token, "/buildagent/register", { name: "a", ...LINUX, labels: ["docker"] });
    expect((await put(admin, { isDraining: true })).status).toBe(200);
  });

  it.each(CLAIMS)("does not grant the agent %s", async (_, claim) => {
    const before = (await call(admin, "GET", path())).text;
    const answer = await put(agent.token, claim);
    expectProblem(answer, 403, "forbidden");
    expect(answer.text).not.toContain("release");
    expect(JSON.parse((await call(admin, "GET", path())).text)).toEqual({
      ...JSON.parse(before),
      lastHeartbeatAt: expect.any(String),
    });
  });

  it("opens no build for another label, until a maintainer grants the label", async () => {
    const { id: repoId } = await newRepository(admin);
    const { id: pipelineId } = await newPipeline(admin, repoId, { requires: { labels: ["release"] } });
    const key = { key: "SIGNING_KEY", value: "crown-jewels", isSecret: true, scope: "pipeline", pipelineId };
    await create(admin, "/secrets/variables", key);
    expect((await put(admin, { isDraining: false })).status).toBe(200);
    await triggerBuild(admin, pipelineId);
    await put(agent.token, { labels: ["release"] });
    const refused = await pollOnce(agent);
    expect([refused.status, refused.text]).toEqual([204, ""]);
    expect((await put(admin, { labels: ["docker", "release"] })).status).toBe(200);
    expect((await pollOnce(agent)).body.env.SIGNING_KEY).toBe("crown-jewels");
    expect((await put(admin, { labels: ["docker"] })).status).toBe(200);
  });

  it("may change the agent's version and name, and repeat unchanged fields as older agents do", async () => {
    const introduction = { ...LINUX, version: "0.0.9" };
    expect((await put(agent.token, introduction)).body).toMatchObject({ version: "0.0.9", labels: ["docker"] });
    const record = (await call(agent.token, "GET", path())).body;
    expect((await put(agent.token, { ...record, name: "b", version: "0.1.0" })).body).toMatchObject({
      ...{ name: "b", version: "0.1.0" },
    });
  });

  it("belongs to an agent whose record keeps its registration token, even after a rename or removal", async () => {
    const registeredBy = { tokenId: registration.id, kind: "registration", name: "linux machines" };
    expect((await call(admin, "GET", path())).body).toMatchObject({ registeredBy });
    const self = (await call(admin, "GET", "/token/self")).body;
    const other = await create(admin, "/buildagent/register", { name: "c", ...LINUX });
    expect(other.registeredBy).toEqual({ tokenId: self.id, kind: "api", name: self.name });
    await call(admin, "DELETE", `/token/${registration.id}`);
    expect((await call(admin, "GET", path())).body).toMatchObject({ registeredBy });
  });

  it("leaves each change in the audit, with the old and the new value", async () => {
    await put(admin, { labels: ["docker", "big"], isDraining: true });
    await poolStub(orgId).flush();
    const { body } = await call<AuditEntry[]>(admin, "GET", `/audit?action=agent.update&subject=${agent.id}`);
    expect(body[0]?.detail).toEqual({
      changes: { labels: { from: ["docker"], to: ["docker", "big"] }, isDraining: { from: false, to: true } },
    });
    const [registered] = (await call<AuditEntry[]>(admin, "GET", `/audit?action=agent.register&subject=${agent.id}`))
      .body;
    expect(registered?.detail).toEqual({ name: "a", ...LINUX, labels: ["docker"] });
  });
});
