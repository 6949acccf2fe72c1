import type { HostReport } from "./host-report.ts";
import type { DueStatus } from "./next-status.ts";
import type { StatusRules } from "./status-rules.ts";
import { REPOSITORY_CONTEXT } from "./statuses.ts";

/** The id that replaces a build's id for the state of the repository. */
export const COMMIT_AS_WHOLE = "commit";

/** One status to store at a git host. */
export interface Status
  extends Pick<
    HostReport,
    "repoId" | "fullName" | "sha" | "ref" | "context" | "state" | "phase" | "ended" | "asks" | "description" | "buildId"
  > {
  /** The address of the build's page; null without one. */
  url: string | null;
  /** The GitLab pipeline that received the first status of the commit. */
  pipelineId: number | null;
  /** Whether this is the repository's own status, over all contexts of the commit. */
  isOverall: boolean;
  /** The id by which the host identifies the status to us. It stands for the build, or for the commit as a whole. */
  externalId: string;
  /** The build's summary in Markdown; null without one, or if the host has no place for it. */
  summary: string | null;
  /** When the state began, in milliseconds since 1970. */
  since: number;
  /** The check run to update; null to create one. */
  checkRunId: number | null;
  /**
   * Whether the host has a status with this name that is older than the App. The service continues to report it as a
   * status.
   */
  wasStatus: boolean;
  /** Whether the host may have unknown check runs of this build. Query the host first. */
  mayHaveRun: boolean;
}

/**
 * Returns the status of a line. `origin` is the address at which a client last reached the service, for builds without
 * a request.
 */
export const toStatus = ({ commit, line }: DueStatus, origin: string | null, rules: StatusRules): Status => {
  const { state, phase, ended, asks, description, buildId } = line.wanted;
  const isOverall = line.context === REPOSITORY_CONTEXT;
  const at = line.wanted.origin ?? origin;
  const isLinked = line.mayLink && buildId !== "" && at?.startsWith("https://");
  return {
    repoId: commit.repoId,
    fullName: commit.fullName,
    sha: commit.sha,
    ref: commit.ref,
    context: line.context,
    state,
    phase,
    ended,
    asks,
    description,
    buildId,
    since: line.since,
    summary: null,
    isOverall,
    externalId: isOverall ? COMMIT_AS_WHOLE : buildId,
    checkRunId: rules.knownRun(line),
    mayHaveRun: rules.mayHaveRun(line),
    wasStatus: rules.wasStatus(line),
    url: isLinked ? `${at}/app/builds/${buildId}` : null,
    pipelineId: line.pipelineId,
  };
};
