import type { Build, BuildEvent } from "../protocol/build.ts";
import type { BuildStatus } from "../protocol/build-states.ts";

/** Which builds a list asks for. A field that is left out filters nothing. */
export interface BuildQuery {
  repoId?: string;
  pipelineId?: string;
  ref?: string;
  /** One of these. */
  refs?: readonly string[];
  /** In lower case: the whole hash, or how it begins. */
  commitSha?: string;
  status?: BuildStatus;
  event?: BuildEvent;
  trigger?: Build["trigger"];
  agentId?: string;
  /** Of the commit. */
  author?: string;
  /** The number of the pull request. */
  pull?: number;
  /** Milliseconds since 1970 of the creation: from `since` to before `until`. */
  since?: number;
  until?: number;
  /** Only builds with a smaller id, which are older. */
  before?: string;
}

/** What a query looks at. */
export interface Listed
  extends Pick<
    Build,
    "id" | "repoId" | "pipelineId" | "ref" | "commitSha" | "status" | "event" | "trigger" | "agentId" | "author"
  > {
  pull: number | null;
  /** Milliseconds since 1970. */
  queuedAt: number;
}

const EQUAL = ["repoId", "pipelineId", "ref", "status", "event", "trigger", "agentId", "author", "pull"] as const;

export const matches = (build: Listed, query: BuildQuery): boolean =>
  EQUAL.every((field) => query[field] === undefined || build[field] === query[field]) &&
  (query.refs === undefined || query.refs.includes(build.ref)) &&
  (query.commitSha === undefined || (build.commitSha?.startsWith(query.commitSha) ?? false)) &&
  (query.since === undefined || build.queuedAt >= query.since) &&
  (query.until === undefined || build.queuedAt < query.until) &&
  (query.before === undefined || build.id < query.before);
