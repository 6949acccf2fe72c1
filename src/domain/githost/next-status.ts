import { isOver, isTerminal } from "./host-report.ts";
import { isSettled } from "./report-status.ts";
import { isUnheard, REST_MS, type StatusRules } from "./status-rules.ts";
import {
  type Commit,
  commitKey,
  type Line,
  linesOf,
  REPOSITORY_CONTEXT,
  type Sent,
  type Statuses,
} from "./statuses.ts";

/** A status that may be sent. */
export interface Due {
  commit: Commit;
  line: Line;
}

/** What comes next: a status now, or the time of the next one; null where nothing is left to tell. */
export type Next = { due: Due } | { at: number } | null;

/** Chooses the next status. What has ended goes first, then what was reported first. */
export const nextStatus = (statuses: Statuses, kind: string, now: number, rules: StatusRules): Next => {
  if (!rules.maySend(statuses)) return null;
  const { commits, pace } = statuses;
  const from = Math.max(pace.quietUntil, pace.sentAt + rules.gapMs(kind));
  let [best, bestRank, earliest] = [null as Due | null, [0, 0], Number.POSITIVE_INFINITY];
  for (const commit of commits.values()) {
    for (const line of linesOf(commit)) {
      const at = dueAt(commit, line, rules);
      if (at === null) continue;
      earliest = Math.min(earliest, at);
      const rank = [isUrgent(commit, line) ? 0 : 1, line.since];
      if (at <= now && (!best || isBefore(rank, bestRank))) [best, bestRank] = [{ commit, line }, rank];
    }
  }
  if (earliest === Number.POSITIVE_INFINITY) return null;
  return best && from <= now ? { due: best } : { at: Math.max(earliest, from) };
};

const isBefore = ([rank = 0, since = 0]: number[], [otherRank = 0, otherSince = 0]: number[]): boolean =>
  rank === otherRank ? since < otherSince : rank < otherRank;

/** When the host may be told a line; null where there is nothing to tell, or where it waits for another line. */
const dueAt = (commit: Commit, line: Line, rules: StatusRules): number | null => {
  if (rules.isGivenUp(line) || rules.isTold(line) || rules.isHeld(line, commit.own)) return null;
  if (line.againAt !== null) return Math.max(line.againAt, line.nextAt);
  if (isOver(line.wanted)) return Math.max(line.since, line.nextAt);
  // A host that knows of no state of the repository waits for one by itself.
  if (line.context === REPOSITORY_CONTEXT && line.told === null) return null;
  return Math.max(line.since + REST_MS, line.nextAt);
};

/** Ends go first, and so does a beginning that an end of the same commit waits for. */
const isUrgent = ({ own }: Commit, line: Line): boolean =>
  isOver(line.wanted) ||
  (isUnheard(line) && own.some(({ wanted, told }) => wanted.state === "success" && told?.buildId !== wanted.buildId));

/**
 * The commits after a request was cut off with the memory of it: what was due may have been on its way, and the host may
 * still do it.
 */
export const cutOff = (statuses: Statuses, now: number, rules: StatusRules): Commit[] => {
  const unsure = (commit: Commit, line: Line): Line =>
    (dueAt(commit, line, rules) ?? Number.POSITIVE_INFINITY) <= now
      ? { ...line, unsureUntil: rules.unsureUntil(now) }
      : line;
  return [...statuses.commits.values()].map((commit) => ({
    ...commit,
    own: commit.own.map((line) => unsure(commit, line)),
    overall: unsure(commit, commit.overall),
  }));
};

/** The statuses that wait, those that something stands in the way of included. */
export const waiting = ({ commits }: Pick<Statuses, "commits">, rules: StatusRules): Due[] =>
  [...commits.values()].flatMap((commit) =>
    linesOf(commit)
      .filter((line) => !isSettled(line, rules))
      .filter((line) => line.context !== REPOSITORY_CONTEXT || line.told !== null || isTerminal(line.wanted.state))
      .map((line) => ({ commit, line })),
  );

/** The status as it is on its way. */
export const sentOf = ({ commit, line }: Due): Sent => ({
  ...{ commit: commitKey(commit), context: line.context, since: line.since },
  ...{ buildId: line.wanted.buildId, state: line.wanted.state },
});
