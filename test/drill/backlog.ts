import { setTimeout } from "node:timers/promises";
import type { Client } from "../../src/local/client.ts";
import type { Build } from "../../src/protocol/build.ts";
import type { ConnectionCheck } from "../../src/protocol/connection.ts";
import { PlayedPushes } from "../bench/support/played-pushes.ts";
import { inParallel } from "../bench/support/waiters.ts";
import { serveBundled } from "../support/served-worker.ts";

const COMMITS = 3_000;
/** Maximum milliseconds to wait for anything. */
const PATIENCE = 120_000;
/** A non-final state waits for 1.5 seconds. The host receives two others in that time. */
const MOST_BEFORE = 2;
const TOKEN = "token-of-the-host";

/** The host's states for a fresh push, while so many other states waited. */
export interface Finding {
  commits: number;
  waiting: number;
  /** Older commits' states that the host received before the fresh push's first state, and before its end. */
  beforeFirst: number;
  beforeEnd: number;
  firstMs: number;
  endMs: number;
}

const waitFor = async <T>(what: string, look: () => Promise<T | undefined> | T | undefined): Promise<T> => {
  const until = Date.now() + PATIENCE;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > until) throw new Error(`Timed out while waiting for ${what}`);
    await setTimeout(50);
  }
};

const waitingOf = async (client: Client, id: string): Promise<number> =>
  (await client.call<ConnectionCheck>("GET", `/connection/${id}/check`)).waiting;

const cancel = (client: Client, { id }: Build): Promise<unknown> => client.call("POST", `/build/${id}/cancel`);

/** Waits for a state of the head at the host. Returns the number of other commits' states before it, since `from`. */
const stateOf = async (pushes: PlayedPushes, from: number, isIt: (state: unknown) => boolean) => {
  const { statuses } = pushes.host.place;
  const begun = performance.now();
  const before = await waitFor("the fresh push's status", () => {
    const place = statuses.findIndex(({ sha, body }, n) => n >= from && sha === pushes.head && isIt(body.state));
    return place < 0 ? undefined : statuses.slice(from, place).filter(({ sha }) => sha !== pushes.head).length;
  });
  return { before, ms: Math.round(performance.now() - begun) };
};

/** Pushes and ends so many commits while the host rejects the token. Then repairs the token, and pushes one more. */
export const pushThroughBacklog = async (commits: number): Promise<Finding> => {
  const service = await serveBundled({ vars: { CLONE_PROTOCOLS: "https,http" } });
  const client = await service.newOrganization("acme");
  const pushes = await PlayedPushes.connect(client);
  const { statuses } = pushes.host.place;
  const { id } = pushes.connection;
  try {
    await pushes.makePipeline();
    pushes.host.settings.faults = [{ on: "POST", answer: 401 }];
    for (let n = 0; n < commits; n++) await pushes.push();
    const builds = await waitFor("a build of each push", async () => {
      const found = await service.db.prepare("SELECT id FROM build_summary").all<Build>();
      return found.results.length >= commits ? found.results : undefined;
    });
    await inParallel(builds.length, 8, (n) => cancel(client, builds[n]!));
    const waiting = await waitFor("every build to end", async () => {
      const count = await waitingOf(client, id);
      return count >= 2 * commits ? count : undefined;
    });
    pushes.host.settings.faults = [];
    await client.call("PATCH", `/connection/${id}`, { token: TOKEN });
    await waitFor("the first status", () => statuses[0]);
    await pushes.push();
    const first = await stateOf(pushes, statuses.length, () => true);
    const [build] = await client.call<Build[]>("GET", `/build?commitSha=${pushes.head}`);
    const from = statuses.length;
    await cancel(client, build!);
    const end = await stateOf(pushes, from, (state) => state !== "pending");
    const [beforeFirst, beforeEnd] = [first.before, end.before];
    return { commits, waiting, beforeFirst, beforeEnd, firstMs: first.ms, endMs: end.ms };
  } finally {
    pushes.close();
    await service.stop();
  }
};

export const isRight = ({ beforeFirst, beforeEnd }: Finding): boolean =>
  beforeFirst <= MOST_BEFORE && beforeEnd <= MOST_BEFORE;

export const drill = async (): Promise<boolean> => {
  const finding = await pushThroughBacklog(COMMITS);
  console.table([finding]);
  return isRight(finding);
};
