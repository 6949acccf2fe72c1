import { type RegisteredAgent, SAID } from "./build-requests.ts";
import { type Counts, difference, times, totalOf } from "./counts.ts";
import type { KeepAliveClient } from "./keep-alive.ts";

const POLL_SECONDS = 50;
export const POLLS_AN_HOUR = 3600 / POLL_SECONDS;
/** Polls to observe for each agent. The bench calculates an hour from them. */
const OBSERVED = 30;

export const countsOf = (http: KeepAliveClient): Promise<Counts> => http.request<Counts>("GET", "/counts");

/** Returns the counted Worker's counts during `work`. */
export const countedWhile = async (http: KeepAliveClient, work: () => Promise<unknown>): Promise<Counts> => {
  const before = await countsOf(http);
  await work();
  return difference(await countsOf(http), before);
};

/** Moves the Worker's clock forward, and fires the alarms that are due until then. */
export const passTime = (http: KeepAliveClient, seconds: number): Promise<unknown> =>
  http.request("POST", `/clock?ahead=${seconds * 1000}`);

/**
 * Counts for one hour with one idle agent that polls every `everySeconds`. Limits a long poll to `wait` seconds, and
 * moves the Worker's clock forward as if the poll had lasted.
 */
export const idleHour = async (
  http: KeepAliveClient,
  agents: RegisteredAgent[],
  wait: 0 | 1,
  everySeconds = POLL_SECONDS,
): Promise<Counts> => {
  const poll = async ({ id, token }: RegisteredAgent) => {
    const { status } = await http.send("GET", `/buildagent/${id}/poll?wait=${wait}`, { token, headers: SAID });
    if (status !== 204) throw new Error(`An idle poll got status ${status}`);
  };
  const counts = await countedWhile(http, async () => {
    for (let round = 0; round < OBSERVED; round++) {
      await Promise.all(agents.map(poll));
      await passTime(http, everySeconds - wait);
    }
  });
  return times(counts, 3600 / everySeconds / OBSERVED / agents.length);
};

/** Waits until the service has finished its work after its answers, for example writing the outbox to D1. */
export const waitUntilIdle = async (http: KeepAliveClient): Promise<void> => {
  const pause = () => new Promise((resolve) => setTimeout(resolve, 500));
  while (busyWith(await countedWhile(http, pause)));
};

const busyWith = ({ objectCalls, d1Rounds, archiveWrites }: Counts): boolean =>
  totalOf(objectCalls) + d1Rounds + archiveWrites > 0;
