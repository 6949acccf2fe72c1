import { visibleArtifacts } from "../../src/queue/commands/artifacts.ts";
import type { Rules } from "../../src/queue/state/rules.ts";
import { heldCurrentLease } from "./call-of-lease.ts";
import type { AnyInput, Call, CheckContext } from "./observations.ts";
import { must } from "./violation.ts";

/** Only the agent that currently holds the job adds to its artifacts. */
export const checkKept = ({ observed }: CheckContext, value: AnyInput, call: Call): void => {
  must(43, heldCurrentLease(call), "an artifact under a stale lease was kept");
  const { jobId, fence, artifactId } = call.input;
  must(43, value.id === artifactId && value.fence === fence, "the stored artifact differs from the sent one");
  const kept = observed.kept.get(jobId) ?? [];
  if (!kept.some(({ id }) => id === artifactId)) kept.push({ id: artifactId, fence });
  observed.kept.set(jobId, kept);
};

/** Records the lease of the result. Call it before the result is recorded anywhere else. */
export const recordWinner = ({ observed }: CheckContext, { job, input }: Call): void => {
  const isFirst = job?.status === "running" || job?.status === "canceling";
  if (isFirst) observed.winners.set(input.jobId, input.fence);
};

/** After a failed try the next lease decides. */
export const forgetWinner = ({ observed }: CheckContext, jobId: string): void => {
  observed.winners.delete(jobId);
};

/** Others see all artifacts kept under the lease that ended the job, and nothing else. */
export const checkShown = ({ observed, storage }: CheckContext, rules: Pick<Rules, "showsArtifact">): void => {
  for (const [jobId, kept] of observed.kept) {
    const job = storage.rows.jobs.get(jobId);
    // A restored pool that adopted an end from D1 does not know the lease; then the archive counts.
    if (!job || job.fence === 0) continue;
    const hasResult = job.status === "succeeded" || job.status === "failed";
    const winner = hasResult ? observed.winners.get(jobId) : undefined;
    const shown = visibleArtifacts(job, rules);
    let expected = 0;
    for (const { id, fence } of kept) {
      if (fence !== winner) continue;
      expected++;
      must(
        43,
        shown.some((one) => one.id === id),
        "others do not see the attempt's artifacts",
      );
    }
    must(43, shown.length === expected, "others see another attempt's artifacts");
  }
};
