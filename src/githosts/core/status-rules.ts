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

/**
 * Milliseconds before the service reports an unfinished build. The service reports a build that ends sooner only once.
 */
export const REST_MS = 1_500;
/** Milliseconds for which a host may still process a request without an answer. */
const LATE_MS = MINUTE_MS;
const MOST_WAIT_MS = 10 * MINUTE_MS;
const GIVE_UP_MS = DAY_MS;
/** The longest pause in milliseconds that a host may impose. */
const LONGEST_PAUSE_MS = HOUR_MS;

const doubling = (first: number, times: number, most: number): number =>
  Math.min(first * 2 ** Math.min(times - 1, 20), most);

/**
 * Returns the order of a state. Later builds of a repository have higher numbers. If a restored pool reused a number,
 * the id decides.
 */
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
 * The rules of the statuses, each with a name. The simulation replaces one rule at a time with a wrong rule. This
 * proves that its checks notice the absence of each rule.
 */
export const STATUS_RULES = {
  /** Whether a report is newer than the wanted state. Nothing follows the end of a build. */
  isNews: (before: WantedState, report: WantedState): boolean => isAfter(orderOf(report), orderOf(before)),
  /**
   * Whether the host has accepted the wanted state. The same state from an earlier time does not count, because other
   * states may have followed it.
   */
  isTold: ({ since, told, againAt }: Line): boolean => told?.since === since && againAt === null,
  isGivenUp: ({ givenUp }: Line): boolean => givenUp !== null,
  /** Whether the answer is about the currently wanted state. A newer state may have been reported in the meantime. */
  isAnswered: (line: Line, sentStatus: SentStatus): boolean => line.since === sentStatus.since,
  /** The state that the host accepted with an answer. */
  taken: (_line: Line, { buildId, state, since }: SentStatus): Line["told"] => ({ buildId, state, since }),
  /** The check run to update for this build; null to create one. */
  knownRun: ({ context, wanted, checkRun = null }: Line): number | null =>
    context === REPOSITORY_CONTEXT || checkRun?.buildId === wanted.buildId ? (checkRun?.id ?? null) : null,
  /** Whether the host has a status instead of a check run. */
  wasStatus: ({ told, checkRun = null }: Line): boolean => told !== null && checkRun === null,
  /** Whether the host may have a check run that its answer did not name, or that arrived late. */
  mayHaveRun: ({ unsureUntil }: Line): boolean => unsureUntil > 0,
  maySend: ({ inFlight }: Statuses): boolean => inFlight === null,
  /** When to send the next request. @param gapMs The host's minimum gap between two statuses, in milliseconds. */
  mayAskAt: ({ quietUntil, sentAt }: Pace, gapMs: number): number => Math.max(quietUntil, sentAt + gapMs),
  /** The time until which the host may process a request without an answer. */
  unsureUntil: (now: number): number => now + LATE_MS,
  /**
   * The time until which a line waits after this many tries. `hostWait` gives this time for the whole connection, after
   * this many consecutive failures.
   */
  lineWait: (tries: number): number => doubling(2 * SECOND_MS, tries, MOST_WAIT_MS),
  forbiddenWait: (times: number): number => doubling(MINUTE_MS, times, MOST_WAIT_MS),
  hostWait: (failures: number): number => doubling(2 * SECOND_MS, failures, MINUTE_MS),
  /** After the first failure, only reread the token, because somebody may have replaced it. */
  tokenWait: (failures: number): number => (failures === 1 ? 0 : doubling(MINUTE_MS, failures - 1, MOST_WAIT_MS)),
  /** When a host that limits requests accepts them again, if the host reports it. */
  pauseUntil: (now: number, until: number | null, failures: number): number =>
    until === null
      ? now + doubling(MINUTE_MS, failures, MOST_WAIT_MS)
      : clamp(until, now + SECOND_MS, now + LONGEST_PAUSE_MS),
  isHopeless: (line: Line, now: number): boolean => line.triedFrom !== null && now - line.triedFrom >= GIVE_UP_MS,
  /**
   * Whether a success waits because the host has not received another unfinished build of the commit. Otherwise the
   * host would show that all builds succeeded.
   */
  isHeld: (line: Line, unheard: Line[]): boolean =>
    line.wanted.state === "success" && unheard.some((other) => other !== line),
  /** The state of the repository. It is a failure at once, and a success at the end. Skipped builds do not count. */
  overall: (own: Line[]): WantedState["state"] => {
    const states = own.map(({ wanted }) => wanted.state);
    if (states.some((state) => state === "failure" || state === "error")) return "failure";
    return states.every((state) => state === "success") ? "success" : "pending";
  },
};

export type StatusRules = typeof STATUS_RULES;

const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most);

/** Reports whether the host has not received the line's unfinished build. */
export const isUnheard = ({ wanted, told, givenUp }: Line): boolean =>
  wanted.state === "pending" && told?.buildId !== wanted.buildId && givenUp === null;
