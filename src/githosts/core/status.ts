import type { HostReport } from "./host-report.ts";
import type { DueStatus } from "./next-status.ts";
import type { StatusRules } from "./status-rules.ts";
import { REPOSITORY_CONTEXT } from "./statuses.ts";

/** In the place of a build's id: the state of the repository. */
export const COMMIT_AS_WHOLE = "commit";

/** One status as a git host is asked to keep it. */
export interface Status
  extends Pick<
    HostReport,
    "repoId" | "fullName" | "sha" | "ref" | "context" | "state" | "phase" | "ended" | "asks" | "description" | "buildId"
  > {
  /** Of the build's page. */
  url: string | null;
  /** GitLab's pipeline that the first status of the commit was put in. */
  pipelineId: number | null;
  /** Whether it is the repository's own, over all contexts of the commit. */
  isOverall: boolean;
  /** By what the host names it to us again: the build, or the commit as a whole. */
  externalId: string;
  /** What the build says of itself, in Markdown; null where it says nothing, or where the host has no place for it. */
  summary: string | null;
  /** Since when it is so: milliseconds since 1970. */
  since: number;
  /** The check run to change; null where one is to be made. */
  checkRunId: number | null;
  /** The host has a status of the same name, from before there was an App: it is told in statuses to its end. */
  wasStatus: boolean;
  /** Whether the host may have check runs of this build that are not known here: it is to be asked first. */
  mayHaveRun: boolean;
}

/** The status of a line. `origin` is where the service was reached last: for builds that nobody asked for. */
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
