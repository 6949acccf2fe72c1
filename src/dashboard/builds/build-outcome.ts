import type { BuildReason, Step } from "../../protocol/build.ts";

const REASONS: Record<BuildReason, string> = {
  "agent-lost": "its agents were lost too often",
  timeout: "it ran longer than its pipeline allows",
  environment: "its environment could not be composed",
  "requirements-unmet": "no agent can meet the requirements of its file",
  "commit-not-on-branch": "the commit is not on the branch",
  "pipeline-invalid": "the pipeline file is not valid",
  "checkout-failed": "the commit could not be checked out",
  "agent-error": "the agent itself failed",
  "plan-mismatch": "the commit has another file than the one that was planned",
  "queue-full": "its jobs found no room in the queue",
  "output-refused": "an output contains a secret, or is too large",
  "artifact-failed": "an artifact could not be kept or fetched",
  "gate-closed": "it was rejected, or nobody approved it in time",
  canceled: "it was canceled",
  "fail-fast": "another job failed",
  superseded: "a newer commit took its place",
  skipped: "its file did not want this change",
};

/** What a build or a job says about its end. */
interface Ended {
  status: string;
  reason: BuildReason | null;
  exitCode: number | null;
  steps?: Step[];
}

/** The word for a build that ended without anybody asking for it: superseded, skipped. Null for any other. */
export const unaskedEnd = ({ status, reason }: Ended): string | null =>
  status === "canceled" && (reason === "superseded" || reason === "skipped") ? reason : null;

/** Why a build failed or ended unasked, in a few words. Null for other builds, and when nothing more is known. */
export const whyEnded = (ended: Ended): string | null => {
  const { status, reason, exitCode, steps = [] } = ended;
  if (reason && unaskedEnd(ended)) return REASONS[reason];
  if (status !== "failed") return null;
  if (reason && reason !== "canceled") return REASONS[reason];
  const failed = steps.find((step) => step.status === "failed");
  if (exitCode === null) return null;
  return failed ? `exit ${exitCode} at "${failed.name}"` : `exit ${exitCode}`;
};
