import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../protocol/units.ts";
import { isOver } from "./host-report.ts";
import {
  type Line,
  type Pace,
  REPOSITORY_CONTEXT,
  type SentStatus,
  type Statuses,
  type WantedState,
} from "./statuses.ts";

/** Milliseconds for which a build that goes on is not told: one that ends at once is told once. */
export const REST_MS = 1_500;
/** Milliseconds for which a host may still do what it was asked and did not answer. */
const LATE_MS = MINUTE_MS;
const MOST_WAIT_MS = 10 * MINUTE_MS;
const GIVE_UP_MS = DAY_MS;
/** Milliseconds that a host may tell us to wait at most. */
const LONGEST_PAUSE_MS = HOUR_MS;

const doubling = (first: number, times: number, most: number): number =>
  Math.min(first * 2 ** Math.min(times - 1, 20), most);

/** Later builds of a repository have higher numbers; the id decides where a restored pool gave a number twice. */
const orderOf = ({ number, buildId, version, ...wanted }: WantedState): (number | string)[] => [
  number,
  buildId,
  Number(isOver(wanted)),
  version,
];

const isAfter = (left: (number | string)[], right: (number | string)[]): boolean => {
  const place = left.findIndex((value, index) => value !== right[index]);
  return place >= 0 && left[place]! > right[place]!;
};

/**
 * The rules of the statuses, each with a name. The simulation replaces one at a time by a wrong one, which proves that
 * its checks find the absence of each.
 */
export const STATUS_RULES = {
  /** Whether a report says more than what is wanted already: nothing of a build follows its end. */
  isNews: (before: WantedState, report: WantedState): boolean => isAfter(orderOf(report), orderOf(before)),
  /** Whether the host has taken what is wanted: not the same state of an earlier time, which others may have followed. */
  isTold: ({ since, told, againAt }: Line): boolean => told?.since === since && againAt === null,
  isGivenUp: ({ givenUp }: Line): boolean => givenUp !== null,
  /** Whether the answer is about what is wanted now: something newer may have been reported meanwhile. */
  isAnswered: (line: Line, sentStatus: SentStatus): boolean => line.since === sentStatus.since,
  /** What the host has taken with an answer. */
  taken: (_line: Line, { buildId, state, since }: SentStatus): Line["told"] => ({ buildId, state, since }),
  /** The check run that shows the build, and is changed; null where one is to be made. */
  knownRun: ({ context, wanted, checkRun = null }: Line): number | null =>
    context === REPOSITORY_CONTEXT || checkRun?.buildId === wanted.buildId ? (checkRun?.id ?? null) : null,
  /** Whether the host has a status in the place of a check run. */
  wasStatus: ({ told, checkRun = null }: Line): boolean => told !== null && checkRun === null,
  /** Whether the host may have a check run that its answer did not name, or one that came late. */
  mayHaveRun: ({ unsureUntil }: Line): boolean => unsureUntil > 0,
  maySend: ({ inFlight }: Statuses): boolean => inFlight === null,
  /** When the host may be asked again. @param gapMs Milliseconds that it wants between two statuses. */
  mayAskAt: ({ quietUntil, sentAt }: Pace, gapMs: number): number => Math.max(quietUntil, sentAt + gapMs),
  /** Until when the host may do something late after a request without an answer. */
  unsureUntil: (now: number): number => now + LATE_MS,
  /** Until when a line waits after so many tries, and the whole connection after so many failures in a row. */
  lineWait: (tries: number): number => doubling(2 * SECOND_MS, tries, MOST_WAIT_MS),
  forbiddenWait: (times: number): number => doubling(MINUTE_MS, times, MOST_WAIT_MS),
  hostWait: (failures: number): number => doubling(2 * SECOND_MS, failures, MINUTE_MS),
  /** The first time the token is only read anew: it may have been changed. */
  tokenWait: (failures: number): number => (failures === 1 ? 0 : doubling(MINUTE_MS, failures - 1, MOST_WAIT_MS)),
  /** When a host that is asked too often takes requests again, where it says so. */
  pauseUntil: (now: number, until: number | null, failures: number): number =>
    until === null
      ? now + doubling(MINUTE_MS, failures, MOST_WAIT_MS)
      : clamp(until, now + SECOND_MS, now + LONGEST_PAUSE_MS),
  isHopeless: (line: Line, now: number): boolean => line.triedFrom !== null && now - line.triedFrom >= GIVE_UP_MS,
  /** A success waits while the host does not know of a build of the commit that goes on: all would look well. */
  isHeld: (line: Line, unheard: Line[]): boolean =>
    line.wanted.state === "success" && unheard.some((other) => other !== line),
  /** The state of the repository: a failure at once, a success at the end. Skipped builds do not count. */
  overall: (own: Line[]): WantedState["state"] => {
    const states = own.map(({ wanted }) => wanted.state);
    if (states.some((state) => state === "failure" || state === "error")) return "failure";
    return states.every((state) => state === "success") ? "success" : "pending";
  },
};

export type StatusRules = typeof STATUS_RULES;

const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most);

/** Whether its build goes on and the host was not told of it. */
export const isUnheard = ({ wanted, told, givenUp }: Line): boolean =>
  wanted.state === "pending" && told?.buildId !== wanted.buildId && givenUp === null;
