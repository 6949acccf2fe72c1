import type { Build, BuildReason } from "../protocol/build.ts";

const REASONS: Record<BuildReason, string> = {
  "agent-lost": "its agent was lost too often",
  timeout: "it ran longer than its pipeline allows",
  environment: "its environment could not be put together",
  "requirements-unmet": "no agent can have what its file requires",
  "commit-not-on-branch": "the commit is not on the branch",
  "pipeline-invalid": "the pipeline file is not valid",
  "checkout-failed": "the commit could not be checked out",
  "agent-error": "the agent itself failed",
  canceled: "it was canceled",
};

/** Why a build ended as it did, in few words; null where its state says it all. */
export const outcomeOf = ({ status, reason, exitCode, steps }: Build): string | null => {
  if (status !== "failed") return null;
  if (reason && reason !== "canceled") return REASONS[reason];
  const failed = steps.find((step) => step.status === "failed");
  if (exitCode === null) return null;
  return failed ? `exit ${exitCode} at "${failed.name}"` : `exit ${exitCode}`;
};
