import type { LeaseHolder, Result } from "../../src/queue/commands/commands.ts";
import type { FileKind } from "./files.ts";
import type { Simulator } from "./simulator.ts";

const COMMIT = "c".repeat(40);

/** The agent of the job with which a build begins sends the file. The Worker finds jobs or mistakes in it. */
export const sendPlan = (
  simulator: Simulator,
  lease: LeaseHolder,
  kind: Exclude<FileKind, "steps">,
): Result<unknown> | undefined => {
  const { jobId } = lease;
  if (kind === "mistakes")
    return simulator.request("refusePlan", { ...lease, reason: "pipeline-invalid", message: "line 1: no" });
  const { commitSha } = simulator.pool.storage.rows.builds.get(jobId) ?? { commitSha: null };
  const graph = simulator.files.read(jobId, commitSha ?? COMMIT);
  const text = simulator.files.textOf(jobId);
  const answer = simulator.request("plan", { ...lease, graph, text, base: null });
  // An agent without an answer repeats the request, and the plan is read with other ids.
  if (!answer && simulator.random.chance(0.5)) return sendPlan(simulator, lease, kind);
  // A faulty agent changes its mind.
  if (answer?.ok && simulator.random.chance(0.1)) {
    const other = { graph: simulator.files.read(jobId, commitSha ?? COMMIT, "another file"), text: "another file" };
    simulator.request("plan", { ...lease, ...other, base: null });
  }
  return answer;
};
