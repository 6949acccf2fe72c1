import { byteSize, LIMITS } from "../../protocol/limits.ts";
import type { Change, HeldJob, JobFacts, Outcome } from "../state/facts.ts";
import { jobsOf } from "../state/graphs.ts";
import type { PoolState } from "../state/state.ts";
import type { FinishReport } from "./commands.ts";

export const OUTPUT_REFUSED: Outcome = { status: "failed", exitCode: null, reason: "output-refused" };

/** UTF-8 of names and values. */
const sizeOf = (outputs: Record<string, string>): number => {
  const encoder = new TextEncoder();
  return Object.entries(outputs).reduce((sum, texts) => sum + encoder.encode(texts.join("")).length, 0);
};

/** Why the outputs of a job that succeeded are too large; null where they are not. */
export const outputsProblem = (
  state: PoolState,
  { buildId }: JobFacts,
  { status, outputs }: FinishReport,
): string | null => {
  if (!outputs || status !== "succeeded") return null;
  const size = sizeOf(outputs);
  if (size === 0) return null;
  if (size > LIMITS.outputBytes) {
    const [largest] = Object.entries(outputs).sort((left, right) => right[1].length - left[1].length);
    return `Its outputs are larger than ${byteSize(LIMITS.outputBytes)}; the largest is ${largest![0].slice(0, 200)}.`;
  }
  let sum = size;
  for (const { id, status: known } of jobsOf(state, buildId))
    if (known === "succeeded") sum += sizeOf(state.records.outputs(id));
  return sum > LIMITS.buildOutputBytes
    ? `With its outputs, those of the build would be larger than ${byteSize(LIMITS.buildOutputBytes)}.`
    : null;
};

/** Stores what the job tells those that need it: of the attempt that succeeded alone. */
export const keptOutputs = (
  { job: { id, buildId, fence: last } }: HeldJob,
  { status }: Outcome,
  { outputs, fence }: FinishReport,
): Change[] =>
  outputs && status === "succeeded" && fence === last && Object.keys(outputs).length > 0
    ? [{ kind: "outputs", buildId, jobId: id, outputs }]
    : [];
