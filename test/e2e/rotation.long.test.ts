import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Client } from "../../src/local/client.ts";
import { freshKeyset } from "../../src/local/service.ts";
import type { Job } from "../../src/protocol/jobs.ts";
import type { Pipeline } from "../../src/protocol/pipeline.ts";
import type { Repository } from "../../src/protocol/repository.ts";
import { type LocalService, startLocalService } from "../support/local/service.ts";

interface Counts {
  currentKeyId: string;
  knownKeyIds: string[];
  byKeyId: Record<string, { variables: number; credentials: number; inputs: number; logs: number }>;
  isComplete: boolean;
  rewrapped: number;
}

const SECRETS = 60;

let service: LocalService;
let client: Client;
let pipelineId: string;
let agent: { id: string; token: string };
const values: Record<string, string> = {};
let keys: { s1: string; s2: string };

/** Deploys with this keyring: restarts the service on the same state. */
const deploy = async (keyring: string): Promise<void> => {
  service.vars.SECRETS_KEYS = keyring;
  await service.restart();
};

const counts = () => service.operator.call<Counts>("GET", "/operator/rewrap");
const rewrap = (limit: number) => service.operator.call<Counts>("POST", "/operator/rewrap", { limit });

const addSecret = async (key: string): Promise<void> => {
  values[key] = `value of ${key} ${crypto.randomUUID()}`;
  const body = { key, value: values[key], isSecret: true, scope: "organization", orgId: "acme" };
  await client.call("POST", "/secrets/variables", body);
};

/** Runs the oldest waiting build. Returns the job that the service gave its agent. */
const nextJob = async (): Promise<Job> => {
  const caller = new Client(service.url, agent.token);
  const job = await caller.call<Job>("GET", `/buildagent/${agent.id}/poll?wait=20`);
  for (const [what, body] of [["start"], ["finish", { status: "succeeded", exitCode: 0 }]] as const) {
    const headers = { Authorization: `Bearer ${agent.token}`, "X-Lease": String(job.lease) };
    const answer = await fetch(`${service.url}/build/${job.build.id}/${what}`, {
      method: "POST",
      ...(body
        ? { headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(body) }
        : { headers }),
    });
    expect(answer.status).toBe(200);
  }
  return job;
};
const trigger = (envVariables: Record<string, string>) =>
  client.call("POST", "/build", { pipelineId, branch: "main", envVariables });

beforeAll(async () => {
  service = await startLocalService();
  client = await service.newOrganization("acme");
  keys = { s1: service.vars.SECRETS_KEYS ?? "", s2: freshKeyset().SECRETS_KEYS.replace("s1:", "s2:") };
  const cloneUrl = "https://git.example/acme/app.git";
  const wanted = { gitHostRepoId: 1, fullName: "acme/app", cloneUrl };
  const { id: repoId } = await client.call<Repository>("POST", "/repository", wanted);
  await client.call("PUT", `/repository/${repoId}/credential`, { kind: "token", value: "the clone token" });
  pipelineId = (await client.call<Pipeline>("POST", "/pipeline", { repoId, name: "ci" })).id;
  const skills = { platform: 2, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: true };
  agent = await client.call("POST", "/buildagent/register", { name: "a", ...skills });
  for (let n = 0; n < SECRETS; n++) await addSecret(`KEY_${n}`);
  await trigger({ RUN: "of the first" });
});
afterAll(() => service?.remove());

describe("a rotation of the sealing key", () => {
  it("keeps every value readable in each of its four steps, and survives a kill", async () => {
    const expectAllOpens = async (run: string) => {
      const job = await nextJob();
      expect(job.env).toEqual({ ...values, RUN: run });
      expect(job.repository.credential?.value).toBe("the clone token");
    };
    expect(await counts()).toMatchObject({ knownKeyIds: ["s1"], isComplete: true });

    await deploy(`${keys.s1},${keys.s2}`);
    await addSecret("AFTER_APPEND");
    expect(await counts()).toMatchObject({ currentKeyId: "s1", knownKeyIds: ["s1", "s2"] });

    await deploy(`${keys.s2},${keys.s1}`);
    await addSecret("AFTER_MOVE");
    await trigger({ RUN: "of the second" });
    const before = await counts();
    expect(before).toMatchObject({
      ...{ currentKeyId: "s2", isComplete: false },
      byKeyId: { s1: { variables: SECRETS + 1, credentials: 1, inputs: 1 }, s2: { variables: 1, inputs: 1 } },
    });
    await expectAllOpens("of the first");

    await rewrap(10);
    // The service dies during the next calls. Nobody knows which of them it stored.
    const cut = (async () => {
      for (;;) await rewrap(1);
    })().catch(() => "cut");
    await service.stop();
    expect(await cut).toBe("cut");
    await service.restart();
    const after = await counts();
    const left = after.byKeyId.s1?.variables ?? 0;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(SECRETS + 1 - 10);
    expect(left + (after.byKeyId.s2?.variables ?? 0)).toBe(SECRETS + 2);
    await expectAllOpens("of the second");
    await addSecret("AFTER_KILL");

    let done: Counts;
    do done = await rewrap(20);
    while (!done.isComplete);
    expect(Object.keys(done.byKeyId)).toEqual(["s2"]);
    expect(await rewrap(500)).toMatchObject({ rewrapped: 0, isComplete: true });

    await deploy(keys.s2);
    expect(await counts()).toMatchObject({ knownKeyIds: ["s2"], isComplete: true });
    await trigger({ RUN: "of the last" });
    await expectAllOpens("of the last");
  });
});
