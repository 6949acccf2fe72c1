import { isOver, isTerminal } from "./host-report.ts";
import { isSettled } from "./report-status.ts";
import { isUnheard, REST_MS, type StatusRules } from "./status-rules.ts";
import {
  type Commit,
  commitKey,
  type Line,
  linesOf,
  REPOSITORY_CONTEXT,
  type SentStatus,
  type Statuses,
} from "./statuses.ts";

/** A status that may be sent. */
export interface DueStatus {
  commit: Commit;
  line: Line;
}

/** The next step: a status to send now, or the time of the next status. Null if nothing is left to report. */
type Next = { due: DueStatus } | { at: number } | null;

/** A line to report, its time, and whether it precedes the others of its commit. */
interface Item {
  line: Line;
  at: number;
  isUrgent: boolean;
}

/**
 * A commit's agenda: its first line, the earliest and latest times at which that line is due, and the time of the
 * commit's newest state.
 */
interface Agenda {
  items: Item[];
  first: Item | null;
  earliest: number;
  latest: number;
  news: number;
}

/**
 * Chooses the next status from the commit with the newest state. Within that commit, ended builds come first, then the
 * oldest line.
 * @param gapMs The host's minimum gap between two statuses, in milliseconds.
 */
export const nextStatus = (statuses: Statuses, gapMs: number, now: number, rules: StatusRules): Next => {
  if (!rules.maySend(statuses)) return null;
  const { commits, pace } = statuses;
  const from = rules.mayAskAt(pace, gapMs);
  let [best, bestRank, earliest] = [null as DueStatus | null, [0, 0, 0], Number.POSITIVE_INFINITY];
  for (const commit of commits.values()) {
    const whole = cachedAgenda(commit, rules);
    earliest = Math.min(earliest, whole.earliest);
    if (whole.earliest > now) continue;
    const { first, news } = whole.latest <= now ? whole : agenda(whole.items.filter(({ at }) => at <= now));
    if (first === null) continue;
    const rank = [-news, first.isUrgent ? 0 : 1, first.line.since];
    if (!best || isBefore(rank, bestRank)) [best, bestRank] = [{ commit, line: first.line }, rank];
  }
  if (earliest === Number.POSITIVE_INFINITY) return null;
  return best && from <= now ? { due: best } : { at: Math.max(earliest, from) };
};

const isBefore = (rank: number[], other: number[]): boolean => {
  const place = rank.findIndex((value, index) => value !== other[index]);
  return place >= 0 && rank[place]! < other[place]!;
};

const agenda = (items: Item[]): Agenda => ({
  items,
  first: items.reduce<Item | null>((best, one) => (best && !isBefore(rankOf(one), rankOf(best)) ? best : one), null),
  earliest: items.reduce((earliest, { at }) => Math.min(earliest, at), Number.POSITIVE_INFINITY),
  latest: items.reduce((latest, { at }) => Math.max(latest, at), Number.NEGATIVE_INFINITY),
  news: items.reduce((news, { line }) => Math.max(news, line.since), Number.NEGATIVE_INFINITY),
});

const rankOf = ({ line, isUrgent }: Item): number[] => [isUrgent ? 0 : 1, line.since];

const agendas = new WeakMap<Commit, Agenda>();

/** Returns a commit's agenda, computed once. A commit never changes, because a new object replaces it. */
const cachedAgenda = (commit: Commit, rules: StatusRules): Agenda => {
  const earlier = agendas.get(commit);
  if (earlier) return earlier;
  const unheard = commit.own.filter(isUnheard);
  const hasEnd = commit.own.some(({ wanted, told }) => wanted.state === "success" && told?.buildId !== wanted.buildId);
  const items = linesOf(commit).flatMap((line): Item[] => {
    const at = dueAt(line, unheard, rules);
    // An end is urgent, and so is a beginning for which an end of the same commit waits.
    return at === null ? [] : [{ line, at, isUrgent: isOver(line.wanted) || (hasEnd && isUnheard(line)) }];
  });
  const newAgenda = agenda(items);
  agendas.set(commit, newAgenda);
  return newAgenda;
};

/** Returns when to report a line. Returns null if there is nothing to report, or if the line waits for another line. */
const dueAt = (line: Line, unheard: Line[], rules: StatusRules): number | null => {
  if (rules.isGivenUp(line) || rules.isTold(line) || rules.isHeld(line, unheard)) return null;
  if (line.againAt !== null) return Math.max(line.againAt, line.nextAt);
  if (isOver(line.wanted)) return Math.max(line.since, line.nextAt);
  // Without a state for the repository, the host itself waits for one, so report nothing.
  if (line.context === REPOSITORY_CONTEXT && line.told === null) return null;
  return Math.max(line.since + REST_MS, line.nextAt);
};

/**
 * Returns the commits after a request was interrupted and its result lost. The due status may have been sent, and the
 * host may still process it.
 */
export const cutOff = (statuses: Statuses, now: number, rules: StatusRules): Commit[] => {
  return [...statuses.commits.values()].map((commit) => {
    const due = new Set(cachedAgenda(commit, rules).items.flatMap(({ line, at }) => (at <= now ? [line] : [])));
    const unsure = (line: Line): Line => (due.has(line) ? { ...line, unsureUntil: rules.unsureUntil(now) } : line);
    return { ...commit, own: commit.own.map(unsure), overall: unsure(commit.overall) };
  });
};

/** Returns the waiting statuses, including blocked ones. */
export const waiting = ({ commits }: Pick<Statuses, "commits">, rules: StatusRules): DueStatus[] =>
  [...commits.values()].flatMap((commit) =>
    linesOf(commit)
      .filter((line) => !isSettled(line, rules))
      .filter((line) => line.context !== REPOSITORY_CONTEXT || line.told !== null || isTerminal(line.wanted.state))
      .map((line) => ({ commit, line })),
  );

/** Returns the form of a status while it is in flight. */
export const toSentStatus = ({ commit, line }: DueStatus): SentStatus => ({
  commit: commitKey(commit),
  context: line.context,
  since: line.since,
  buildId: line.wanted.buildId,
  state: line.wanted.state,
});
