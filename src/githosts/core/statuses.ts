import type { HostReport } from "./host-report.ts";

/** The context of a repository's own state, over all contexts of a commit. */
export const REPOSITORY_CONTEXT = "millrace";

/** The newest known state that the host should have for one context of a commit. */
export type WantedState = Pick<
  HostReport,
  "buildId" | "number" | "version" | "state" | "phase" | "ended" | "asks" | "description" | "origin"
>;

/** A GitHub check run. Each build has one, and each commit as a whole has one. */
interface CheckRun {
  id: number;
  /** The build that the check run shows. The repository's own check run shows the build that decides. */
  buildId: string;
}

/** One context of a commit: the wanted state, the reported state, and any obstacle. */
export interface Line {
  context: string;
  wanted: WantedState;
  /** When the wanted state became known. Times are milliseconds since 1970. */
  since: number;
  /** The last state that the host accepted, and the time from which that state was wanted. */
  told: (Pick<WantedState, "buildId" | "state"> & { since: number }) | null;
  /** Failed tries of the wanted state: their number, the time of the first, and the time of the next try. */
  tries: number;
  triedFrom: number | null;
  nextAt: number;
  givenUp: { reason: string; at: number } | null;
  /** Until this time, the host may still process an earlier request without an answer. */
  unsureUntil: number;
  /** When to report an accepted state again, because a late state may have arrived in between. */
  againAt: number | null;
  /** The GitLab pipeline that contains the state. */
  pipelineId: number | null;
  /** Whether the host accepts the link to the build's page. */
  mayLink: boolean;
  /** The check run that was created last. Absent in rows of earlier releases, and if the host has none. */
  checkRun?: CheckRun | null;
}

/** A commit of a repository, with a line for each reported context and one for the repository. */
export interface Commit {
  /** The host's id of the repository. */
  repoId: number;
  /** The repository's last known name. */
  fullName: string;
  sha: string;
  /**
   * The commit's ref, if the host keeps the states of each branch and tag separate. Absent on other hosts, and in rows
   * of earlier releases.
   */
  ref?: string;
  own: Line[];
  overall: Line;
  /** Contexts that should have a build and do not. Absent without such contexts, and in rows of earlier releases. */
  leftOut?: string[];
  /** When every build had ended, and its state was reported or abandoned; null before that. */
  endedAt: number | null;
}

/** The pace of one connection's requests. */
export interface Pace {
  /** The service sends no request before this time. */
  quietUntil: number;
  /** Why the service sends no request, in words for people; null if nothing is wrong. */
  trouble: string | null;
  /** The number of consecutive failures of the host or its token. */
  failures: number;
  /** When the last request was sent. */
  sentAt: number;
}

/** A status in flight: the wanted state when it was sent. */
export interface SentStatus extends Pick<WantedState, "buildId" | "state">, Pick<Line, "context" | "since"> {
  commit: string;
}

/** The pending reports of a connection, without ended commits. */
export interface Statuses {
  commits: Map<string, Commit>;
  pace: Pace;
  /** The status that the host has not answered yet. */
  inFlight: SentStatus | null;
}

export const AT_EASE: Pace = { quietUntil: 0, trouble: null, failures: 0, sentAt: 0 };

/** The identity of a commit, on its ref if it has one. */
export type CommitName = Pick<Commit, "repoId" | "sha" | "ref">;

/** The key of a commit in its repository. No ref's name contains a space. */
export const shaAndRef = ({ sha, ref }: Pick<Commit, "sha" | "ref">): string =>
  ref === undefined ? sha : `${sha} ${ref}`;

/** The key of a commit in `Statuses.commits`. */
export const commitKey = (commit: CommitName): string => `${commit.repoId} ${shaAndRef(commit)}`;

export const linesOf = ({ own, overall }: Commit): Line[] => [...own, overall];
