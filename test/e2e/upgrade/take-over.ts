import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Client } from "../../../src/local/client.ts";
import { waitForEnd } from "../../../src/local/demo.ts";
import type { AuditEntry } from "../../../src/protocol/audit.ts";
import type { Build } from "../../../src/protocol/build.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import type { Repository } from "../../../src/protocol/repository.ts";
import { type RunningAgent, startAgent } from "../../support/local/agent.ts";
import { deliver, newDelivery } from "../../support/local/git-host/deliveries.ts";
import { github } from "../../support/local/git-host/payloads/github.ts";
import { connectRepository, type GitRepository, makeRepository } from "../../support/local/git-repository.ts";
import { type Release, unpackRelease } from "../../support/local/kept-release.ts";
import { type LocalService, startLocalService } from "../../support/local/service.ts";
import { ByHand } from "./by-hand.ts";
import { SeveralJobs } from "./several-jobs.ts";
import { Strangers } from "./strangers.ts";

/* Longer than a deploy takes here, so that a deploy lets no lease expire. */
const VARS = { LEASE_SECONDS: "180", HEARTBEAT_SECONDS: "1", POLL_SECONDS: "5" };

/** Other tests use the machine at the same time: the agents take minutes then. */
const TEST_MS = 900_000;

const NOW = "2026-11-22T12:00:00Z";

let folder: string;
let before: Release;
let service: LocalService;
let client: Client;
const agents: RunningAgent[] = [];
let several: SeveralJobs | undefined;
let strangers: Strangers | undefined;

const start = async (name: string, program?: string): Promise<void> => {
  agents.push(await startAgent(client, service.folder, name, { program, register: ["--labels", "special"] }));
};

const logOf = async (id: string): Promise<string> => {
  const headers = { Authorization: `Bearer ${client.token}` };
  return (await fetch(`${client.url}/build/${id}/log`, { headers })).text();
};

const get = (id: string): Promise<Build> => client.call<Build>("GET", `/build/${id}`);

const trigger = (pipelineId: string, go: string): Promise<Build> => {
  const envVariables = { GO: join(service.folder, go) };
  return client.call("POST", "/build", { pipelineId, branch: "main", envVariables });
};

const SKILLS = { platform: 1, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: false };

/** Creates a token and registers an agent under the previous release; `end` revokes both. */
const intruders = async () => {
  const token = await client.call<{ id: string; token: string }>("POST", "/token", {
    ...{ name: "revoked", kind: "api", role: "viewer" },
  });
  const agent = await client.call<{ id: string; token: string }>("POST", "/buildagent/register", {
    ...{ name: "removed", ...SKILLS },
  });
  const statusOf = async (path: string, bearer: string) =>
    (await fetch(client.url + path, { headers: { Authorization: `Bearer ${bearer}` } })).status;
  return {
    end: async () => {
      await client.call("DELETE", `/token/${token.id}`);
      await client.call("DELETE", `/buildagent/${agent.id}`);
    },
    statuses: () =>
      Promise.all([statusOf("/token/self", token.token), statusOf(`/buildagent/${agent.id}`, agent.token)]),
  };
};

const release = (go: string): void => writeFileSync(join(service.folder, go), "");

const hasLines = (id: string, from: number) =>
  expect.poll(async () => [...(await logOf(id)).matchAll(/^line /gm)].length).toBeGreaterThan(from);

/** Expects every line from 1 to the count that the build printed at its end, and its secret masked. */
const expectWhole = async (id: string): Promise<void> => {
  const log = await logOf(id);
  const count = Number(/^lines: (\d+)$/m.exec(log)?.[1]);
  const lines = [...log.matchAll(/^line (\d+) \*\*\*$/gm)].map((match) => Number(match[1]));
  expect(lines).toEqual(Array.from({ length: count }, (_, index) => index + 1));
};

/**
 * Connects the repository by hand.
 * @returns a function that commits. Its result delivers the push, once or several times.
 */
const connect = async (git: GitRepository, repository: Repository) => {
  const host = { kind: "github", name: "by hand", webUrl: "https://git.example" };
  const { id: connectionId } = await client.call<{ id: string }>("POST", "/connection", host);
  const typed = await client.call<{ url: string; secret: string }>("GET", `/connection/${connectionId}/hook`);
  await client.call("PUT", `/repository/${repository.id}`, { connectionId });
  const hook = { ...typed, id: 1, repositoryId: repository.gitHostRepoId, events: ["push"] };
  const named = { ...repository, id: repository.gitHostRepoId };
  return (message: string) => {
    const before = git.git("rev-parse", "HEAD");
    git.git("commit", "--quiet", "--allow-empty", "--message", message);
    const after = git.git("rev-parse", "HEAD");
    const commit = { id: after, message, author: { name: "T", email: "t@t.invalid" }, timestamp: NOW };
    const commits = [{ ...commit, added: [], removed: [], modified: [] }];
    const change = { ref: "refs/heads/main", before, after, commit: after, isForced: false, commits };
    const deliveries = github.pushed(named, change).map((event) => newDelivery(hook, event));
    return async () => {
      for (const delivery of deliveries) {
        await deliver("github", delivery);
        expect(delivery.status, delivery.answer).toBe(202);
      }
    };
  };
};

/** Tests the deploy of this code over the release in the folder `kept`. */
export const testTakeOver = (kept: string): void => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "millrace-upgrade-"));
    before = unpackRelease(kept, folder);
    service = await startLocalService(VARS, { config: before.config });
    client = await service.newOrganization("acme");
  });
  afterAll(async () => {
    await Promise.all([several?.stop(), strangers?.stop(), ...agents.map((agent) => agent.stop())]);
    await service?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it(
    "takes over that release's running work: each build ends, and none is lost or doubled",
    async () => {
      const git = makeRepository(service.folder, {
        ".millrace.yml": `steps:
  - run: |
      n=0
      while [ ! -e "$GO" ]; do n=$((n+1)); echo "line $n $KEY"; sleep 0.2; done
      echo "lines: $n"
`,
      });
      const repository = await connectRepository(client, git);
      const pipeline = await client.call<Pipeline>("POST", "/pipeline", { repoId: repository.id, name: "ci" });
      await client.call("POST", "/secrets/variables", {
        ...{ key: "KEY", value: "a secret of that release", isSecret: true },
        ...{ scope: "repository", repoId: repository.id },
      });
      await client.call("POST", "/secrets/variables", {
        ...{ key: "GO", value: join(service.folder, "go"), isSecret: false },
        ...{ scope: "pipeline", pipelineId: pipeline.id },
      });

      const { end, statuses } = await intruders();
      await start("of-before", before.agent);
      release("go-ended");
      const done = await trigger(pipeline.id, "go-ended");
      expect(await waitForEnd(client, done.id)).toMatchObject({ status: "succeeded" });
      const across = await trigger(pipeline.id, "go");
      await hasLines(across.id, 3);
      const queued = await trigger(pipeline.id, "go");
      const push = await connect(git, repository);
      const tellFirst = push("one");
      await tellFirst();
      const ofPushes = () => client.call<Build[]>("GET", "/build?event=push");
      await expect.poll(async () => (await ofPushes()).length).toBe(1);
      several = await SeveralJobs.begin(service, before.agent);
      strangers = await Strangers.begin(service, before.agent);
      const byHand = await ByHand.begin(service);

      await service.deploy();
      await byHand.expectEnds();
      expect(await statuses()).toEqual([200, 200]);
      await end();
      expect(await statuses()).toEqual([401, 401]);
      await several.expectGoOn();
      await start("of-now");
      const known = [...(await logOf(across.id)).matchAll(/^line /gm)].length;
      await hasLines(across.id, known);
      expect(await get(done.id)).toMatchObject({ status: "succeeded", number: done.number });
      await expectWhole(done.id);
      expect(await client.call<Repository[]>("GET", "/repository")).toHaveLength(1);
      await expect.poll(async () => (await get(queued.id)).status).toBe("running");
      await push("two")();
      await tellFirst();
      await expect.poll(async () => (await ofPushes()).length).toBe(2);
      release("go");
      const pushed = await ofPushes();
      const builds = [done, across, queued, ...pushed];
      for (const { id } of builds) {
        expect(await waitForEnd(client, id)).toMatchObject({ status: "succeeded", attempt: 1 });
        await expectWhole(id);
      }
      await several.expectEnds();
      await strangers.expectEnds();

      const all = builds.map(({ id }) => id).sort();
      const listed = await client.call<Build[]>("GET", "/build");
      expect(listed.map(({ id }) => id).sort()).toEqual(all);
      expect(listed.map(({ number }) => number).sort()).toEqual([1, 2, 3, 4, 5]);
      const created = await client.call<AuditEntry[]>("GET", "/audit?action=build.create");
      expect(created.map(({ subject }) => subject).sort()).toEqual(all);
      const retried = await client.call<Build>("POST", `/build/${queued.id}/retry`);
      expect(await waitForEnd(client, retried.id)).toMatchObject({ status: "succeeded", retryOf: queued.id });
    },
    TEST_MS,
  );
};
