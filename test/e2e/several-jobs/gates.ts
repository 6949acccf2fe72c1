import { expect, it } from "vitest";
import { Client, ServiceProblem } from "../../../src/local/client.ts";
import { sha256 } from "../../support/local/files-with.ts";
import { Project, type Run, type Stage, soon } from "./stage.ts";

const GATED = `jobs:
  build:
    steps: [{ run: echo built }]
  deploy:
    needs: [build]
    gate: { message: "Release \${{ build.branch }}?" }
    steps: [{ run: 'echo deployed >> "$HERE/deployed"' }]
`;

/** The default branch's file: a person opens the gate, and only this job uses the group. */
const CAREFUL = `jobs:
  deploy:
    gate: { message: Really? }
    groups: [release]
    steps: [{ run: 'echo "\${DEPLOY_KEY:-nothing}" | sha256sum > "$HERE/key"' }]
`;

/** A branch's file: it has no gate, and tries every way that a file has to read the variable. */
const SNEAKY = `jobs:
  deploy:
    groups: [release]
    steps: [{ run: 'echo "key is $DEPLOY_KEY"; printf %s "$DEPLOY_KEY" | sha256sum > "$HERE/key"' }]
  unnamed:
    steps: [{ run: 'echo "unnamed has \${DEPLOY_KEY:-nothing}" >> "$HERE/unnamed"' }]
  asking:
    env: { STOLEN: "\${{ secrets.DEPLOY_KEY }}" }
    steps: [{ run: 'echo "$STOLEN" > "$HERE/stolen"' }]
  matrix:
    matrix: { n: [1, 2] }
    if: build.branch != ''
    steps: [{ run: 'echo "matrix has \${DEPLOY_KEY:-nothing}" >> "$HERE/unnamed"' }]
`;

const STEPS_ALONE = `groups: [release]
steps: [{ run: 'echo "$DEPLOY_KEY" > "$HERE/stolen"' }]
`;

/** Attaches a protected group with a secret to the project's pipeline. @returns the secret */
const protect = async ({ client }: Stage, app: Project): Promise<string> => {
  const value = `key-${crypto.randomUUID()}`;
  const name = "release";
  const protection = { approval: "maintainer" };
  const group = await client.call<{ id: string }>("POST", "/secrets/groups", { name, protection });
  await client.call("PUT", `/pipeline/${app.pipeline.id}`, { groupIds: [group.id] });
  await client.call("POST", "/secrets/variables", {
    ...{ key: "DEPLOY_KEY", value, isSecret: true, scope: "group", orgId: "acme", groupId: group.id },
  });
  return value;
};

const memberOf = async ({ client }: Stage): Promise<Client> => {
  const body = { name: "a member", kind: "api", role: "member" };
  const { token } = await client.call<{ token: string }>("POST", "/token", body);
  return new Client(client.url, token);
};

const statusOf = (call: Promise<unknown>): Promise<number> =>
  call.then(
    () => 200,
    (problem: unknown) => (problem instanceof ServiceProblem ? problem.status : 0),
  );

/** Returns the keys of the gates that wait for a decision. */
const asking = async (run: Run): Promise<string[]> => (await run.get()).waitsFor.map(({ key }) => key);

/** Tests builds that wait for a person, whatever happens meanwhile. */
export const gates = (stage: Stage): void => {
  it("waits at a gate through a service restart, and continues when a person approves it", async () => {
    const { client, service } = stage;
    const app = await Project.connect(stage, GATED);
    const run = await app.trigger();
    const jobId = await run.gate("deploy");
    const before = await run.job("deploy");
    expect(before).toMatchObject({ status: "waiting", gate: { message: "Release main?", by: "maintainer" } });
    await service.restart();
    expect(await run.job("deploy")).toEqual(before);
    expect(app.lines("deployed")).toEqual([]);
    const member = await memberOf(stage);
    expect(await statusOf(member.call("POST", `/job/${jobId}/approve`))).toBe(403);
    expect(await asking(run)).toEqual(["deploy"]);
    await client.call("POST", `/job/${jobId}/approve`, { comment: "it is time" });
    const { by, ...build } = await run.end();
    expect(build).toMatchObject({ status: "succeeded", waitsFor: [] });
    expect(by.deploy).toMatchObject({ gate: { decision: { approved: true, comment: "it is time" } } });
    expect(app.lines("deployed")).toEqual(["deployed"]);
    expect(await statusOf(client.call("POST", `/job/${jobId}/reject`))).toBe(409);
  });

  it("gives a protected group to a branch without the gate only after a person approves it", async () => {
    const { client } = stage;
    const app = await Project.connect(stage, CAREFUL);
    const key = await protect(stage, app);
    app.commit("sneaky", SNEAKY);
    const rejected = await app.trigger({ branch: "sneaky" });
    const jobId = await rejected.gate("deploy");
    await rejected.see({
      unnamed: "succeeded",
      "matrix (1)": "succeeded",
      "matrix (2)": "succeeded",
      asking: "failed",
    });
    expect(await rejected.job("deploy")).toMatchObject({
      ...{ status: "waiting", agentId: null, gate: { by: "maintainer", groups: ["release"] } },
    });
    const member = await memberOf(stage);
    expect(await statusOf(member.call("POST", `/job/${jobId}/approve`))).toBe(403);
    await client.call("POST", `/job/${jobId}/reject`);
    expect((await rejected.end()).by.deploy).toMatchObject({ status: "failed", reason: "gate-closed", agentId: null });
    expect(app.lines("stolen")).toEqual([]);
    expect(new Set(app.lines("unnamed"))).toEqual(new Set(["unnamed has nothing", "matrix has nothing"]));

    app.commit("alone", STEPS_ALONE);
    const alone = await app.trigger({ branch: "alone" });
    await soon(async () => expect(await asking(alone)).toHaveLength(1));
    await alone.act("cancel");
    expect(await alone.end()).toMatchObject({ status: "canceled" });
    expect(app.lines("stolen")).toEqual([]);

    const approved = await app.trigger({ branch: "sneaky" });
    await client.call("POST", `/job/${await approved.gate("deploy")}/approve`);
    expect((await approved.end()).by).toMatchObject({ deploy: { status: "succeeded" }, asking: { status: "failed" } });
    expect(app.lines("key")).toEqual([`${sha256(key)}  -`]);
    expect(await approved.logOf("deploy")).toContain("key is ***");
  });
};
