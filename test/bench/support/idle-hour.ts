import { type Counts, difference, times } from "./counts.ts";
import type { KeepAlive } from "./keep-alive.ts";
import type { Mill } from "./life.ts";

export const POLL_SECONDS = 50;
export const POLLS_AN_HOUR = 3600 / POLL_SECONDS;
/** Seconds of the agents' time that stand for an hour of it: an even number of minutes and of polls. */
const OBSERVED = 600;

export const countsOf = (http: KeepAlive): Promise<Counts> => http.get<Counts>("GET", "/counts");

/** What a counted Worker was asked while something was done. */
export const countedWhile = async (http: KeepAlive, work: () => Promise<unknown>): Promise<Counts> => {
  const before = await countsOf(http);
  await work();
  return difference(await countsOf(http), before);
};

/** Lets the Worker's clock go ahead, and the organization's pool do what was due meanwhile. */
export const passTime = (http: KeepAlive, orgId: string, seconds: number): Promise<unknown> =>
  http.get("POST", `/clock?org=${orgId}&ahead=${seconds * 1000}`);

/**
 * What one agent without a build costs in an hour in which it asks every so many seconds, holding the question open for
 * `wait` seconds: a long wait is cut to one, and the Worker's clock goes on as if it had lasted.
 */
export const idleHour = async (
  http: KeepAlive,
  agents: Mill[],
  wait: 0 | 1,
  everySeconds = POLL_SECONDS,
): Promise<Counts> => {
  const poll = async ({ id, token }: Mill) => {
    const { status } = await http.ask("GET", `/buildagent/${id}/poll?wait=${wait}`, { token });
    if (status !== 204) throw new Error(`An idle poll was answered with ${status}`);
  };
  const counts = await countedWhile(http, async () => {
    for (let second = 0; second < OBSERVED; second += everySeconds) {
      await Promise.all(agents.map(poll));
      await passTime(http, agents[0]!.orgId, everySeconds - wait);
    }
  });
  return times(counts, 3600 / OBSERVED / agents.length);
};

/** Until nothing happens any more that nobody asked for, such as what is written behind an answer. */
export const quiet = async (http: KeepAlive): Promise<void> => {
  const pause = () => new Promise((resolve) => setTimeout(resolve, 3_000));
  while ((await countedWhile(http, pause)).objectRequests > 0);
};
