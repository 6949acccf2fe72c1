import { type Counts, difference, times } from "./counts.ts";
import type { KeepAlive } from "./keep-alive.ts";
import type { Mill } from "./life.ts";

export const POLL_SECONDS = 50;
export const POLLS_AN_HOUR = 3600 / POLL_SECONDS;
/** Polls of each agent that stand for an hour of them: an even number, since every second one is written down. */
const ROUNDS = 10;

export const countsOf = (http: KeepAlive): Promise<Counts> => http.get<Counts>("GET", "/counts");

/** What a counted Worker was asked while something was done. */
export const countedWhile = async (http: KeepAlive, work: () => Promise<unknown>): Promise<Counts> => {
  const before = await countsOf(http);
  await work();
  return difference(await countsOf(http), before);
};

/**
 * What one agent without a build costs in an hour in which it asks every 50 s, holding the question open for `wait`
 * seconds: a long one is cut to a second, and the Worker's clock goes on as if it had lasted.
 */
export const idleHour = async (http: KeepAlive, agents: Mill[], wait: 0 | 1): Promise<Counts> => {
  const poll = async ({ id, token }: Mill) => {
    const { status } = await http.ask("GET", `/buildagent/${id}/poll?wait=${wait}`, { token });
    if (status !== 204) throw new Error(`An idle poll was answered with ${status}`);
  };
  const counts = await countedWhile(http, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all(agents.map(poll));
      await http.get("POST", `/clock?ahead=${(POLL_SECONDS - wait) * 1000}`);
    }
  });
  return times(counts, POLLS_AN_HOUR / (ROUNDS * agents.length));
};
