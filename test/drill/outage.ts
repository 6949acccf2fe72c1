import { globSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Client } from "../../src/local/client.ts";
import type { Build } from "../../src/protocol/build.ts";
import { isEnded } from "../../src/protocol/build-states.ts";
import { newAppKeys } from "../support/app-keys.ts";
import { startAgent } from "../support/local/agent.ts";
import type { BareRepository } from "../support/local/git-host/bare-repository.ts";
import { deliver, type HostDelivery, newDelivery } from "../support/local/git-host/deliveries.ts";
import { TestGitHost } from "../support/local/git-host/git-host.ts";
import { type GitRepository, makeRepository } from "../support/local/git-repository.ts";
import { type LocalService, startLocalService } from "../support/local/service.ts";
import { setup as bundleAgent } from "../support/set-up/agent.ts";

const HOUR_MS = 3_600_000;
const APP_ID = 4242;
const PUSHES = 120;
const BRANCHES = 12;
/** Milliseconds in which the service must build the heads after it is back. */
const PATIENCE = 240_000;

/** Results for the pushes in an hour without the service. */
export interface Finding {
  pushes: number;
  /** The branches' newest commits. */
  heads: number;
  /** Heads whose build succeeded. */
  built: number;
  /** Builds of other commits, and repeated builds of a head. */
  others: number;
  /** Deliveries that the service requested from GitHub again. */
  ordered: number;
}

interface Scene {
  service: LocalService;
  client: Client;
  host: TestGitHost;
  bare: BareRepository;
  git: GitRepository;
}

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Connects a GitHub App's private repository that builds every branch. */
const connect = async (service: LocalService, host: TestGitHost): Promise<Scene> => {
  const client = await service.newOrganization("acme");
  const { key, publicKey } = newAppKeys();
  const app = { id: APP_ID, clientId: "Iv23client", publicKey, installationId: 99, account: "acme" };
  Object.assign(host.api.settings, { app });
  const bare = host.addRepository("acme/shop");
  const git = makeRepository(service.folder, { ".millrace.yml": "steps: [{ run: echo built }]\n" });
  await host.push(git, bare, "main");
  const { id } = await client.call<{ id: string }>("POST", "/connection", {
    ...{ kind: "github", name: "GitHub", webUrl: host.url, app: { id: String(APP_ID), privateKey: key } },
  });
  await client.call("POST", `/connection/${id}/installation`);
  const linked = { hostRepoId: bare.id, defaultBranch: "main" };
  const repository = await client.call<{ id: string }>("POST", `/connection/${id}/repository`, linked);
  const on = { push: { branches: ["**"] } };
  await client.call("POST", "/pipeline", { repoId: repository.id, name: "ci", on });
  return { service, client, host, bare, git };
};

const pushTo = async ({ host, git, bare }: Scene, branch: string, message: string): Promise<string> => {
  git.git("checkout", "--quiet", "-B", branch);
  git.git("commit", "--quiet", "--allow-empty", "--message", message);
  await host.push(git, bare, branch);
  return git.git("rev-parse", "HEAD");
};

const listBuilds = async ({ client }: Scene): Promise<Build[]> => client.call("GET", "/build?limit=100");

const waitFor = async (isSo: () => Promise<boolean>): Promise<void> => {
  const until = Date.now() + PATIENCE;
  while (!(await isSo()) && Date.now() < until) await sleep(300);
};

/** Lets GitHub list the failed deliveries, and redeliver those that the service requests. */
const listMissed = ({ host, bare }: Scene, missed: HostDelivery[]): void => {
  const attempts = missed.map((delivery, n) => ({
    ...{ id: n + 1, guid: delivery.id, redelivery: false, status: "failed to connect", status_code: 0 },
    delivered_at: new Date(Date.now() - HOUR_MS + (n * HOUR_MS) / (missed.length + 1)).toISOString(),
    ...{ event: delivery.event, action: null, repository_id: bare.id, payload: JSON.parse(delivery.body) },
  }));
  host.api.settings.attempts = attempts.toReversed();
  host.api.place.onOrder = (id) => void host.redeliver(missed[id - 1]!);
};

/** Moves the host object's schedule an hour forward: its next check for missed deliveries is due. */
const passHour = ({ stateFolder }: LocalService): void => {
  for (const file of globSync(join(stateFolder, "v3/do/**/*.sqlite"))) {
    const database = new DatabaseSync(file);
    const isHost = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'missed'").get();
    if (isHost) database.prepare("UPDATE meta SET value = value - ? WHERE key = 'lookAt'").run(HOUR_MS);
    database.close();
  }
};

/** Pushes to the branches while the service is down, and restarts it. */
export const pushThroughOutage = async (pushes: number, branches: number): Promise<Finding> => {
  const service = await startLocalService();
  const host = await TestGitHost.start("github", service.folder);
  const scene = await connect(service, host);
  const agent = await startAgent(scene.client, service.folder, "one");
  try {
    await pushTo(scene, "main", "before");
    await waitFor(async () => (await listBuilds(scene)).some(({ status }) => isEnded(status)));
    const known = new Set((await listBuilds(scene)).map(({ id }) => id));
    await service.stop();
    const told = host.deliveries.length;
    const heads = new Map<string, string>();
    for (let n = 0; n < pushes; n++)
      heads.set(`b${n % branches}`, await pushTo(scene, `b${n % branches}`, `push ${n}`));
    const missed = host.deliveries.slice(told).filter(({ status }) => status === null);
    listMissed(scene, missed);
    passHour(service);
    await service.restart();
    const [{ hook }] = missed as [HostDelivery];
    await deliver("github", newDelivery(hook, { name: "ping", body: { zen: "Design for failure.", hook_id: 1 } }));
    const made = async () => (await listBuilds(scene)).filter(({ id }) => !known.has(id));
    const ofHead = ({ commitSha }: Build) => [...heads.values()].includes(commitSha ?? "");
    await waitFor(
      async () => (await made()).filter((build) => ofHead(build) && isEnded(build.status)).length >= branches,
    );
    const builds = await made();
    const built = new Set(
      builds
        .filter(({ status }) => status === "succeeded")
        .filter(ofHead)
        .map((one) => one.commitSha),
    );
    const ordered = host.api.place.ordered.length;
    return { pushes: missed.length, heads: heads.size, built: built.size, others: builds.length - built.size, ordered };
  } finally {
    await agent.stop();
    await host.close();
    await service.remove();
  }
};

export const isRight = ({ pushes, heads, built, others }: Finding): boolean =>
  pushes >= heads && built === heads && others === 0;

export const drill = async (): Promise<boolean> => {
  const removeProgram = await bundleAgent();
  const finding = await pushThroughOutage(PUSHES, BRANCHES);
  const { pushes, heads, built, others, ordered } = finding;
  console.log(`${pushes} pushes to ${heads} branches found no service; the service requested ${ordered} redeliveries`);
  console.log(`${built} of ${heads} heads were built, and ${others} other builds were created`);
  removeProgram?.();
  return isRight(finding);
};
