import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { saveIdentity } from "../../../src/agent/cli/identity.ts";
import type { Job } from "../../../src/protocol/jobs.ts";
import { type AgentProcess, startAgentCli } from "./agent-cli.ts";
import { type FakeService, IDENTITY, startFakeService } from "./fake-service.ts";

/** The agent's actions for one job. */
interface Done {
  log: string;
  /** Body of its finish or release; undefined if it sent neither. */
  result: Record<string, unknown> | undefined;
  kind: "finish" | "release" | undefined;
  requests: FakeService["requests"];
}

export interface RunningAgent {
  service(): FakeService;
  /** Hands out a job and waits for its result. */
  take(job: Job): Promise<Done>;
  /** Returns the log, the result and the requests for the build or job with this id. */
  heardOf(id: string): Done;
}

/** Starts one real agent for all tests in a file, so that each test does not wait for a start. */
export const useRunningAgent = (): RunningAgent => {
  const state = mkdtempSync(join(tmpdir(), "millrace-running-"));
  let service: FakeService;
  let agent: AgentProcess;
  beforeAll(async () => {
    service = await startFakeService();
    saveIdentity(state, { ...IDENTITY, url: service.url, isEphemeral: false });
    agent = startAgentCli(["start", "--grace", "1", "--state", state]);
  });
  afterAll(async () => {
    await agent?.stop();
    rmSync(state, { recursive: true, force: true });
    await service?.close();
  });
  const heardOf = (id: string): Done => {
    const end = service.results.find(({ buildId }) => buildId === id);
    return {
      log: service.logs.get(id) ?? "",
      result: end?.body,
      kind: end?.kind,
      requests: service.requests.filter(({ path }) => path.startsWith(`/build/${id}/`)),
    };
  };
  const take = async (job: Job): Promise<Done> => {
    service.jobs.push(job);
    service.hint({ type: "look" });
    const id = job.job?.id ?? job.build.id;
    await expect.poll(() => heardOf(id).result, { timeout: 60_000 }).toBeDefined();
    return heardOf(id);
  };
  return { service: () => service, take, heardOf };
};
