import type { JobOfBuild } from "../../protocol/build-job.ts";

/** The jobs that made their build fail, in this build itself, the first one first. */
export const failedJobs = (jobs: readonly JobOfBuild[]): JobOfBuild[] =>
  jobs
    .filter(({ status, mayFail, adoptedFrom }) => status === "failed" && !mayFail && adoptedFrom === null)
    .sort((left, right) => Date.parse(left.finishedAt ?? "") - Date.parse(right.finishedAt ?? ""));
