import type { JobCounts } from "../../protocol/build.ts";
import type { JobStatus } from "../../protocol/build-job.ts";

/** What a list counts a job as. */
const COUNTED: Record<JobStatus, keyof Omit<JobCounts, "total">> = {
  ...{ waiting: "waiting", queued: "waiting" },
  ...{ assigned: "running", running: "running", canceling: "running" },
  ...{ succeeded: "succeeded", failed: "failed" },
  ...{ canceled: "stopped", skipped: "stopped", dropped: "stopped" },
};

/** How many jobs of a build are in which state. */
export const countsOfJobs = (jobs: readonly { status: JobStatus }[]): JobCounts => {
  const counts: JobCounts = { total: jobs.length, waiting: 0, running: 0, succeeded: 0, failed: 0, stopped: 0 };
  for (const { status } of jobs) counts[COUNTED[status] ?? "waiting"] += 1;
  return counts;
};
