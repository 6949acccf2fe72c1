import type { HostReport } from "./host-report.ts";
import type { Due } from "./next-status.ts";

/** One status as a git host is asked to keep it. */
export interface Status extends Pick<HostReport, "repoId" | "fullName" | "sha" | "context" | "state" | "description"> {
  isCanceled: boolean;
  /** Of the build's page. */
  url: string | null;
  ref: string | null;
  /** GitLab's pipeline that the first status of this ref was put in. */
  pipelineId: number | null;
}

/** The status of a line. `origin` is where the service was reached last: for builds that nobody asked for. */
export const statusOf = ({ commit, line }: Due, origin: string | null): Status => {
  const { state, description, ended, buildId, ref } = line.wanted;
  const at = line.wanted.origin ?? origin;
  const isLinked = line.mayLink && at?.startsWith("https://");
  return {
    ...{ repoId: commit.repoId, fullName: commit.fullName, sha: commit.sha, context: line.context },
    ...{ state, description, isCanceled: ended === "canceled" },
    url: isLinked ? `${at}/app/builds/${buildId}` : null,
    ref: ref ?? null,
    pipelineId: line.pipelineId,
  };
};
