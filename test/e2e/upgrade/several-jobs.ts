import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Client } from "../../../src/local/client.ts";
import { waitForEnd } from "../../../src/local/demo.ts";
import type { Build } from "../../../src/protocol/build.ts";
import type { JobOfBuild } from "../../../src/protocol/build-job.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import { type RunningAgent, startAgent } from "../../support/local/agent.ts";
import { connectRepository, makeRepository } from "../../support/local/git-repository.ts";
import type { LocalService } from "../../support/local/service.ts";

const file = (go: string): string => `jobs:
  one:
    steps: [{ run: 'echo begun; while [ ! -e ${go} ]; do sleep 0.2; done' }]
  two:
    needs: [one]
    steps: [{ run: echo two }]
  three:
    retry: 1
    artifacts: [{ name: notes, path: notes.txt, if-none: ignore }]
    steps: [{ run: 'if [ ! -e ${go}-tried ]; then touch ${go}-tried; exit 1; fi' }]
  four:
    gate: { message: Really? }
    steps: [{ run: echo four }]
`;
const NOBODYS = "jobs:\n  one:\n    requires: { labels: [nobody-has-it] }\n    steps: [{ run: echo one }]\n";

/** An organization whose builds of several jobs are under way while the release before takes over, and gives back. */
export class SeveralJobs {
  readonly #client: Client;
  readonly #go: string;
  readonly #old: RunningAgent;
  readonly #now: RunningAgent;
  readonly #across: string;
  readonly #queued: string;

  private constructor(client: Client, go: string, agents: RunningAgent[], builds: string[]) {
    this.#client = client;
    this.#go = go;
    [this.#old, this.#now] = agents as [RunningAgent, RunningAgent];
    [this.#across, this.#queued] = builds as [string, string];
  }

  /** Begins them under today's service, with an agent of the release before that is idle all the time. */
  static async begin(service: LocalService, programBefore: string): Promise<SeveralJobs> {
    const client = await service.newOrganization("several");
    const go = join(service.folder, "go-several");
    const old = await startAgent(client, service.folder, "several-of-before", {
      program: programBefore,
      register: ["--android", "--no-web"],
    });
    const pipelineOf = async (text: string, requires = {}): Promise<string> => {
      const repository = await connectRepository(client, makeRepository(service.folder, { ".millrace.yml": text }));
      const body = { repoId: repository.id, name: "ci", requires };
      return (await client.call<Pipeline>("POST", "/pipeline", body)).id;
    };
    const trigger = async (pipelineId: string): Promise<string> =>
      (await client.call<Build>("POST", "/build", { pipelineId, branch: "main" })).id;

    const now = await startAgent(client, service.folder, "several-of-now", { register: ["--no-android", "--web"] });
    const queued = await trigger(await pipelineOf(NOBODYS));
    await expect.poll(async () => (await jobsOf(client, queued)).one?.status).toBe("queued");
    const across = await trigger(await pipelineOf(file(go), { web: true }));
    await expect.poll(async () => (await jobsOf(client, across)).one?.status).toBe("running");
    return new SeveralJobs(client, go, [old, now], [across, queued]);
  }

  /** The release before keeps the lease of the job that runs, and the place of what waits. */
  async expectGoOn(): Promise<void> {
    expect([(await this.#get(this.#across)).status, (await this.#get(this.#queued)).status]).toEqual([
      ...["running", "queued"],
    ]);
    expect(await jobsOf(this.#client, this.#across)).toMatchObject({
      one: { status: "running", attempt: 1 },
      two: { status: "waiting" },
      three: { status: "queued" },
    });
  }

  /** Under today's service again each job runs, the one that fails at first once more. */
  async expectEnds(): Promise<void> {
    const client = this.#client;
    writeFileSync(this.#go, "");
    const { four } = await jobsOf(client, this.#across);
    await client.call("POST", `/job/${four?.id}/approve`);
    expect(await waitForEnd(client, this.#across)).toMatchObject({ status: "succeeded", waitsFor: [] });
    const jobs = await jobsOf(client, this.#across);
    expect(jobs).toMatchObject({
      one: { status: "succeeded", attempt: 1 },
      two: { status: "succeeded", attempt: 1 },
      three: { status: "succeeded", attempt: 2, retries: 1 },
      four: { status: "succeeded", attempt: 1 },
    });
    expect(new Set(Object.values(jobs).map(({ agentId }) => agentId)).size).toBe(1);
    expect(await jobsOf(client, this.#queued)).toMatchObject({ one: { status: "queued", attempt: 0 } });
    await client.call("POST", `/build/${this.#queued}/cancel`);
    expect(await waitForEnd(client, this.#queued)).toMatchObject({ status: "canceled" });
  }

  async stop(): Promise<void> {
    writeFileSync(this.#go, "");
    await Promise.all([this.#old.stop(), this.#now.stop()]);
  }

  #get(id: string): Promise<Build> {
    return this.#client.call("GET", `/build/${id}`);
  }
}

const jobsOf = async (client: Client, id: string): Promise<Record<string, JobOfBuild>> => {
  const { jobs } = await client.call<Build>("GET", `/build/${id}`);
  return Object.fromEntries((jobs ?? []).map((job) => [job.key, job]));
};
