import type { PlanArtifact } from "../../pipeline/parse/plan.ts";
import { BuildFailure, Cancel } from "../build/failure.ts";
import type { JobLog } from "../log/job-log.ts";
import type { StepsResult } from "../steps/run-steps.ts";
import type { ArtifactKeeper } from "./keep-artifacts.ts";

/**
 * Runs the steps of a job, and keeps what it declares. Where both fail, the job's own failure is what is told.
 * @throws what `run` does; BuildFailure artifact-failed after steps that succeeded
 */
export const keepAround = async (
  artifacts: readonly PlanArtifact[],
  keeper: ArtifactKeeper,
  log: JobLog,
  run: () => Promise<StepsResult>,
): Promise<StepsResult> => {
  const keepAfterFailure = () =>
    keeper.keepAll(artifacts, "failure").catch((error: unknown) => {
      const isTooLate = error instanceof Cancel && error.reason === "timeout";
      if (!(error instanceof BuildFailure) && !isTooLate) throw error;
      log.say(error.message);
    });
  const result = await run().catch(async (error: unknown) => {
    if (error instanceof BuildFailure) await keepAfterFailure();
    throw error;
  });
  if (result.succeeded) await keeper.keepAll(artifacts, "success");
  else await keepAfterFailure();
  return result;
};
