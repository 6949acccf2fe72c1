import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { saveIdentity } from "../../../../src/agent/cli/identity.ts";
import type { StepUser } from "../../../../src/agent/process/step-user.ts";
import { MISE_VERSION } from "../../../../src/agent/tools/mise-release.ts";
import { runAgentCli } from "../../support/agent-cli.ts";
import { type FakeService, IDENTITY, makeJob, startFakeService } from "../../support/fake-service.ts";
import { testFolder } from "../../support/folder.ts";
import type { TestRepository } from "../../support/repository.ts";
import { waitUntil } from "../../support/wait-until.ts";
import { type NodeMirror, type ReleaseSize, startNodeMirror } from "./node-mirror.ts";
import { fetchMise, hasMise, seed } from "./tested-mise.ts";

export const fakeService = async (): Promise<FakeService> => {
  const service = await startFakeService();
  onTestFinished(() => service.close());
  return service;
};

/** Returns agents for one file's tests. They have fetched mise, and download Node from one mirror. */
export const useToolAgents = (size: ReleaseSize) => {
  let mirror: NodeMirror;
  let mise: string;
  beforeAll(async () => {
    if (!hasMise) return;
    mise = await fetchMise();
    mirror = await startNodeMirror(size);
  }, 300_000);
  afterAll(() => {
    mirror?.close();
    if (mise) rmSync(mise, { recursive: true, force: true });
  });

  const startWith = (
    variables: Record<string, string>,
    service: FakeService,
    user: StepUser | null,
    ...more: string[]
  ) => {
    const state = join(testFolder(), "state");
    seed(mise, state);
    saveIdentity(state, { ...IDENTITY, url: service.url });
    const work = testFolder();
    chmodSync(work, 0o711);
    const runAs = user ? ["--run-as", user.name, "--work", work] : ["--work", work];
    const env = { ...mirror.env, SECRET_OF_OWNER_TOKEN: "t0ken", ...variables };
    const agent = runAgentCli(["start", "--grace", "1", "--state", state, ...runAs, ...more], { env });
    return { ...agent, state, work };
  };
  return {
    mirror: () => mirror,
    miseProgram: () => join(mise, `mise-${MISE_VERSION}`, "mise"),
    start: (service: FakeService, user: StepUser | null, ...more: string[]) => startWith({}, service, user, ...more),
    startWith,
  };
};

let builds = 0;
/** Queues a build of the repository's branch. */
export const build = async (
  service: FakeService,
  repository: TestRepository,
  { branch = "main", repoId = "01900000-0000-7000-8000-0000000000b1" } = {},
) => {
  const job = makeJob(repository.cloneUrl, ++builds);
  Object.assign(job.build, { branch, ref: `refs/heads/${branch}`, repoId });
  service.jobs.push(job);
  service.hint({ type: "look" });
  const { id } = job.build;
  const { body } = await waitUntil(() => service.results.find(({ buildId }) => buildId === id));
  return { body, log: service.logs.get(id) ?? "" };
};
