import type { RegisteredAgent } from "./build-requests.ts";
import { type Counts, difference, times } from "./counts.ts";
import type { KeepAliveClient } from "./keep-alive.ts";

const POLL_SECONDS = 50;
export const POLLS_AN_HOUR = 3600 / POLL_SECONDS;
/** Observed seconds, from which an hour is calculated: a whole number of minutes and of polls. */
const OBSERVED = 600;

export const countsOf = (http: KeepAliveClient): Promise<Counts> => http.request<Counts>("GET", "/counts");

/** What the counted Worker counts during `work`. */
export const countedWhile = async (http: KeepAliveClient, work: () => Promise<unknown>): Promise<Counts> => {
  const before = await countsOf(http);
  await work();
  return difference(await countsOf(http), before);
};

/** Moves the Worker's clock forward, and fires the alarm of the organization's pool if it is due. */
export const passTime = (http: KeepAliveClient, orgId: string, seconds: number): Promise<unknown> =>
  http.request("POST", `/clock?org=${orgId}&ahead=${seconds * 1000}`);

/**
 * Counts for one hour of one idle agent that polls every `everySeconds`. A long poll is cut to `wait` seconds; the
 * Worker's clock is moved forward as if it had lasted.
 */
export const idleHour = async (
  http: KeepAliveClient,
  agents: RegisteredAgent[],
  wait: 0 | 1,
  everySeconds = POLL_SECONDS,
): Promise<Counts> => {
  const poll = async ({ id, token }: RegisteredAgent) => {
    const { status } = await http.send("GET", `/buildagent/${id}/poll?wait=${wait}`, { token });
    if (status !== 204) throw new Error(`an idle poll got status ${status}`);
  };
  const counts = await countedWhile(http, async () => {
    for (let second = 0; second < OBSERVED; second += everySeconds) {
      await Promise.all(agents.map(poll));
      await passTime(http, agents[0]!.orgId, everySeconds - wait);
    }
  });
  return times(counts, 3600 / OBSERVED / agents.length);
};

/** Waits until the service has done what it does after its answers, for example writing the outbox to D1. */
export const waitUntilIdle = async (http: KeepAliveClient): Promise<void> => {
  const pause = () => new Promise((resolve) => setTimeout(resolve, 3_000));
  while ((await countedWhile(http, pause)).objectRequests > 0);
};
