import type { Client } from "../../src/local/client.ts";
import type { Build } from "../../src/protocol/build.ts";
import { PlayedPushes } from "../bench/support/played-pushes.ts";
import { inParallel } from "../bench/support/waiters.ts";
import { deliver } from "../support/local/git-host/deliveries.ts";
import { serveBundled } from "../support/served-worker.ts";

const PUSHES = 1_000;
/** GitHub accepts one status a second. */
const OF_GITHUB = 10;
const KINDS = ["gitlab", "gitea", "github"] as const;
const CONTEXTS = ["millrace/ci", "millrace"];
const PAGE = 100;
/** Milliseconds during which the hosts may still receive states after the last build has ended. */
const PATIENCE = 180_000;

/** Results for one host's pushes. */
interface Finding {
  kind: string;
  pushes: number;
  builds: number;
  /** Pushes without a build, and additional builds for a push. */
  lost: number;
  doubled: number;
  /** Commits whose last state at the host differs from their build's. */
  untold: number;
  /** Requests to the host for each build. */
  requests: number;
}

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

const buildsOf = async ({ url, token }: Client, repoId: string): Promise<Build[]> => {
  const found: Build[] = [];
  let next: string | undefined = `${url}/build?repoId=${repoId}&limit=${PAGE}`;
  while (next) {
    const page: Response = await fetch(next, { headers: { Authorization: `Bearer ${token}` } });
    found.push(...((await page.json()) as Build[]));
    const [, link]: string[] = /<([^>]+)>; rel="next"/.exec(page.headers.get("Link") ?? "") ?? [];
    next = link && new URL(link, url).href;
  }
  return found;
};

/** Delivers every push twice. The host's API fails in the middle third. */
const push = async (host: PlayedPushes, count: number): Promise<string[]> => {
  const shas: string[] = [];
  for (let n = 0; n < count; n++) {
    host.host.settings.faults = n > count / 3 && n < (2 * count) / 3 ? [{ on: "POST", answer: 502 }] : [];
    const delivery = await host.push();
    await deliver(host.connection.kind, delivery);
    shas.push(host.head);
  }
  host.host.settings.faults = [];
  return shas;
};

/** Returns the commits with a context whose last state is not an end. */
const untoldOf = ({ host }: PlayedPushes, shas: string[]): string[] => {
  const last = new Map<string, string>();
  for (const { sha, body } of host.place.statuses) last.set(`${sha} ${body.context ?? body.name}`, String(body.state));
  const isTold = (sha: string) =>
    CONTEXTS.every((context) =>
      ["error", "failed", "failure", "canceled"].includes(last.get(`${sha} ${context}`) ?? ""),
    );
  return shas.filter((sha) => !isTold(sha));
};

const liveAt = async (client: Client, kind: (typeof KINDS)[number], pushes: number): Promise<Finding> => {
  const host = await PlayedPushes.connect(client, kind);
  await host.makePipeline();
  const shas = await push(host, pushes);
  const builds = await seen(client, host.repository.id, pushes);
  await inParallel(builds.length, 8, (n) => client.call("POST", `/build/${builds[n]?.id}/cancel`));
  const until = Date.now() + PATIENCE;
  while (untoldOf(host, shas).length > 0 && Date.now() < until) await sleep(200);
  const built = new Set(builds.map(({ commitSha }) => commitSha));
  host.close();
  return {
    ...{ kind, pushes, builds: builds.length },
    lost: shas.filter((sha) => !built.has(sha)).length,
    doubled: builds.length - built.size,
    untold: untoldOf(host, shas).length,
    requests: host.host.place.statuses.length / builds.length,
  };
};

/** Waits until the list has so many builds, and returns them. After a while, returns those that exist. */
const seen = async (client: Client, repoId: string, count: number): Promise<Build[]> => {
  const until = Date.now() + 30_000;
  for (;;) {
    const builds = await buildsOf(client, repoId);
    if (builds.length >= count || Date.now() > until) return builds;
    await sleep(200);
  }
};

/** Pushes to hosts of all kinds at once, delivers each push twice, and makes the hosts unavailable in between. */
export const pushToAll = async (pushes: number): Promise<Finding[]> => {
  const service = await serveBundled({ vars: { CLONE_PROTOCOLS: "https,http" } });
  try {
    return await Promise.all(
      KINDS.map(async (kind) => {
        const client = await service.newOrganization(kind);
        return liveAt(client, kind, kind === "github" ? Math.min(pushes, OF_GITHUB) : pushes);
      }),
    );
  } finally {
    await service.stop();
  }
};

export const isRight = ({ pushes, builds, lost, doubled, untold }: Finding): boolean =>
  builds === pushes && lost === 0 && doubled === 0 && untold === 0;

export const drill = async (): Promise<boolean> => {
  const findings = await pushToAll(PUSHES);
  console.table(findings);
  const isAll = findings.every(isRight);
  console.log(isAll ? "no build lost or doubled, all statuses sent" : "FAILED");
  return isAll;
};
