import { waiting } from "./next-status.ts";
import type { StatusRules } from "./status-rules.ts";
import { type Commit, type Line, linesOf, type Statuses } from "./statuses.ts";

/** The result of one status, for people. */
export interface StatusView {
  fullName: string;
  sha: string;
  context: string;
  buildId: string;
  state: Line["wanted"]["state"];
  /** The last state that the host accepted; null if it accepted none. */
  told: Line["wanted"]["state"] | null;
  /** Why and when the service stopped reporting the status. The time is in milliseconds since 1970. */
  givenUp: { reason: string; at: number } | null;
}

/** The health of a connection to its host. */
export interface HostHealth {
  /** The number of unreported statuses, and the time of the first one. */
  waiting: number;
  waitingSince: number | null;
  /** Why reporting is suspended, and until when. */
  trouble: { reason: string; until: number } | null;
  /** The last abandoned statuses. */
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
