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

/** Returns a file with ten jobs. One of them runs across the upgrade. */
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
  each:
    needs: [one]
    matrix: { part: [1, 2, 3, 4, 5, 6] }
    steps: [{ run: 'echo \${{ matrix.part }}' }]
`;
const GATED = "jobs:\n  ship:\n    gate: { message: Ship it? }\n    steps: [{ run: echo shipped }]\n";
const NOBODYS = "jobs:\n  one:\n    requires: { labels: [nobody-has-it] }\n    steps: [{ run: echo one }]\n";

/** An organization with the previous release's agent. Its builds with planned jobs are under way at the upgrade. */
export class SeveralJobs {
  readonly #client: Client;
  readonly #go: string;
  readonly #agent: RunningAgent;
  readonly #across: string;
  readonly #gated: string;
  readonly #queued: string;
  #before: Build[] = [];

  private constructor(client: Client, go: string, agent: RunningAgent, builds: [string, string, string]) {
    this.#client = client;
    this.#go = go;
    this.#agent = agent;
    [this.#across, this.#gated, this.#queued] = builds;
  }

  /** Starts the builds under the previous release. */
  static async begin(service: LocalService, programBefore: string): Promise<SeveralJobs> {
    const client = await service.newOrganization("several");
    const go = join(service.folder, "go-several");
    const agent = await startAgent(client, service.folder, "several-of-before", { program: programBefore });
    const trigger = async (text: string): Promise<string> => {
      const repository = await connectRepository(client, makeRepository(service.folder, { ".millrace.yml": text }));
      const pipeline = await client.call<Pipeline>("POST", "/pipeline", { repoId: repository.id, name: "ci" });
      return (await client.call<Build>("POST", "/build", { pipelineId: pipeline.id, branch: "main" })).id;
    };
    const gated = await trigger(GATED);
    await expect.poll(async () => (await client.call<Build>("GET", `/build/${gated}`)).waitsFor.length).toBe(1);
    const queued = await trigger(NOBODYS);
    await expect.poll(async () => (await jobsOf(client, queued)).one?.status).toBe("queued");
    const across = await trigger(file(go));
    await expect.poll(async () => (await jobsOf(client, across)).one?.status).toBe("running");
    const begun = new SeveralJobs(client, go, agent, [across, gated, queued]);
    begun.#before = await begun.#seen();
    return begun;
  }

  /** Returns these builds as readers see them. */
  #seen(): Promise<Build[]> {
    return Promise.all([this.#across, this.#gated, this.#queued].map((id) => this.#get(id)));
  }

  /** Expects today's service to keep the running job's lease, and the places of waiting jobs. */
  async expectGoOn(): Promise<void> {
    expect(await this.#seen()).toMatchObject(this.#before);
    const jobs = await jobsOf(this.#client, this.#across);
    expect(Object.keys(jobs)).toHaveLength(10);
    expect(jobs).toMatchObject({
      one: { status: "running", attempt: 1 },
      two: { status: "waiting" },
      three: { status: "queued" },
      four: { status: "waiting", gate: { decision: null } },
    });
  }

  /** Expects each job to run once, and the job that fails at first to run twice. */
  async expectEnds(): Promise<void> {
    const client = this.#client;
    writeFileSync(this.#go, "");
    for (const { jobId } of [...(await this.#get(this.#across)).waitsFor, ...(await this.#get(this.#gated)).waitsFor])
      await client.call("POST", `/job/${jobId}/approve`);
    for (const id of [this.#across, this.#gated])
      expect(await waitForEnd(client, id)).toMatchObject({ status: "succeeded", waitsFor: [] });
    const { three, ...others } = await jobsOf(client, this.#across);
    expect(three).toMatchObject({ status: "succeeded", attempt: 2, retries: 1 });
    const runs = Object.values(others).map(({ status, attempt }) => [status, attempt]);
    expect(runs).toEqual(Array(9).fill(["succeeded", 1]));
    expect(await jobsOf(client, this.#queued)).toMatchObject({ one: { status: "queued", attempt: 0 } });
    await client.call("POST", `/build/${this.#queued}/cancel`);
    expect(await waitForEnd(client, this.#queued)).toMatchObject({ status: "canceled" });
  }

  async stop(): Promise<void> {
    writeFileSync(this.#go, "");
    await this.#agent.stop();
  }

  #get(id: string): Promise<Build> {
    return this.#client.call("GET", `/build/${id}`);
  }
}

const jobsOf = async (client: Client, id: string): Promise<Record<string, JobOfBuild>> => {
  const { jobs } = await client.call<Build>("GET", `/build/${id}`);
  return Object.fromEntries((jobs ?? []).map((job) => [job.key, job]));
};
