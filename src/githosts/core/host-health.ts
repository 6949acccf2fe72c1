import { waiting } from "./next-status.ts";
import type { StatusRules } from "./status-rules.ts";
import { type Commit, type Line, linesOf, type Statuses } from "./statuses.ts";

/** What became of one status, for people. */
export interface StatusView {
  fullName: string;
  sha: string;
  context: string;
  buildId: string;
  state: Line["wanted"]["state"];
  /** What the host has taken last; null where nothing. */
  told: Line["wanted"]["state"] | null;
  /** Why the host is not told any more, and when that was decided, in milliseconds since 1970. */
  givenUp: { reason: string; at: number } | null;
}

/** How a connection gets on with its host. */
export interface HostHealth {
  /** Statuses that the host has still to be told, and since when the first of them. */
  waiting: number;
  waitingSince: number | null;
  /** Why nothing is told at the moment, and until when. */
  trouble: { reason: string; until: number } | null;
  /** The last statuses that were given up. */
  givenUp: StatusView[];
}

export const statusViews = (commit: Commit): StatusView[] =>
  linesOf(commit).map(({ context, wanted, told, givenUp }) => ({
    fullName: commit.fullName,
    sha: commit.sha,
    context,
    buildId: wanted.buildId,
    state: wanted.state,
    told: told?.state ?? null,
    givenUp,
  }));

export const summarizeHealth = (
  { commits, pace }: Pick<Statuses, "commits" | "pace">,
  withGivenUp: Commit[],
  rules: StatusRules,
): HostHealth => {
  const waitingStatuses = waiting({ commits }, rules);
  return {
    waiting: waitingStatuses.length,
    waitingSince: waitingStatuses.length > 0 ? Math.min(...waitingStatuses.map(({ line }) => line.since)) : null,
    trouble: pace.trouble === null ? null : { reason: pace.trouble, until: pace.quietUntil },
    givenUp: withGivenUp.flatMap((commit) =>
      statusViews(commit).filter(({ givenUp, buildId }) => givenUp !== null && buildId !== ""),
    ),
  };
};
