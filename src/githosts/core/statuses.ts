import type { HostReport } from "./host-report.ts";

/** The context of a repository's own state, over all contexts of a commit. */
export const REPOSITORY_CONTEXT = "millrace";

/** What the host should be told of one context of a commit: the newest that is known. */
export type WantedState = Pick<
  HostReport,
  "buildId" | "number" | "version" | "state" | "phase" | "ended" | "asks" | "description" | "origin"
>;

/** A check run of GitHub: one of each build, and one of each commit as a whole. */
interface CheckRun {
  id: number;
  /** The build that it shows; the repository's own shows whichever decides. */
  buildId: string;
}

/** One context of a commit: what the host should be told, what it was told, and what stands in the way. */
export interface Line {
  context: string;
  wanted: WantedState;
  /** When the wanted state became known. Times are milliseconds since 1970. */
  since: number;
  /** What the host has taken last, and since when that was wanted. */
  told: (Pick<WantedState, "buildId" | "state"> & { since: number }) | null;
  /** Of the wanted state: how often it was tried in vain, since when, and when it may be tried again. */
  tries: number;
  triedFrom: number | null;
  nextAt: number;
  givenUp: { reason: string; at: number } | null;
  /** Until then the host may still do something that it was asked before and did not answer. */
  unsureUntil: number;
  /** When the host is told once more what it has taken: something may have come late in between. */
  againAt: number | null;
  /** GitLab's pipeline that the state is in. */
  pipelineId: number | null;
  /** Whether the host takes the link to the build's page. */
  mayLink: boolean;
  /** The last one that was made. Absent in rows of earlier releases, and where the host has none. */
  checkRun?: CheckRun | null;
}

/** A commit of a repository, with a line for each context that was reported and one for the repository. */
export interface Commit {
  /** The host's id. */
  repoId: number;
  /** The name of the repository, as far as it is known. */
  fullName: string;
  sha: string;
  /** Where the host keeps the states of each branch and tag apart; absent elsewhere, and in rows of earlier releases. */
  ref?: string;
  own: Line[];
  overall: Line;
  /** Contexts that should have a build and have none. Absent where there are none, and in rows of earlier releases. */
  leftOut?: string[];
  /** When everything had ended and the host knew it, or was given up; null before. */
  endedAt: number | null;
}

/** How one connection's requests follow each other. */
export interface Pace {
  /** Nothing is asked before. */
  quietUntil: number;
  /** Why not, in words for people; null where nothing is wrong. */
  trouble: string | null;
  /** How often in a row the host, or its token, failed. */
  failures: number;
  /** When the last request was sent. */
  sentAt: number;
}

/** A status on its way: what was wanted as it was sent. */
export interface SentStatus extends Pick<WantedState, "buildId" | "state">, Pick<Line, "context" | "since"> {
  commit: string;
}

/** What a connection has to tell. Commits that have ended are not here. */
export interface Statuses {
  commits: Map<string, Commit>;
  pace: Pace;
  /** The status that the host has not answered yet. */
  inFlight: SentStatus | null;
}

export const AT_EASE: Pace = { quietUntil: 0, trouble: null, failures: 0, sentAt: 0 };

/** What names a commit, on its ref where it has one. */
export type CommitName = Pick<Commit, "repoId" | "sha" | "ref">;

/** The key of a commit in its repository. No name of a ref has a space. */
export const shaAndRef = ({ sha, ref }: Pick<Commit, "sha" | "ref">): string =>
  ref === undefined ? sha : `${sha} ${ref}`;

/** The key of a commit among `Statuses.commits`. */
export const commitKey = (commit: CommitName): string => `${commit.repoId} ${shaAndRef(commit)}`;

export const linesOf = ({ own, overall }: Commit): Line[] => [...own, overall];
