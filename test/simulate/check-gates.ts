import type { Change, JobFacts } from "../../src/queue/state/facts.ts";
import { mayDecide } from "./job-specification.ts";
import type { Call, CheckContext } from "./observations.ts";
import { must } from "./violation.ts";

/** A decision is made once, by a call that decides. Storage still has the earlier job. */
export const checkDecisions = ({ call, storage }: CheckContext, changes: readonly Change[]): void => {
  for (const change of changes) {
    if (change.kind !== "job") continue;
    const before = storage.rows.jobs.get(change.job.id)?.gate?.decision ?? null;
    const after = change.job.gate?.decision ?? null;
    if (before === after || JSON.stringify(before) === JSON.stringify(after)) continue;
    must(32, before === null, "a decision changed");
    must(32, call.command === "decideGate", "a gate was decided without a caller");
  }
};

const graphJobOf = ({ storage }: CheckContext, { id, buildId }: JobFacts) =>
  storage.rows.graphs.get(buildId)!.graph.jobs.find((job) => job.id === id)!;

/**
 * The job to decide: the build's only job that asks, or the first of the only matrix that asks. A held build is itself
 * decided.
 */
const asked = (context: CheckContext, { input, gates, build }: Call): JobFacts | undefined => {
  if (build?.approval && !build.approval.decision && build.id === input.id) return undefined;
  const job = gates.get(input.id);
  if (job || context.storage.rows.jobs.has(input.id)) return job;
  const asking = [...gates.values()].filter(
    ({ buildId, end, gate }) => buildId === input.id && !end && !gate!.decision,
  );
  return asking.every((one) => graphJobOf(context, one).definition === graphJobOf(context, asking[0]!).definition)
    ? asking[0]
    : undefined;
};

/** All combinations of a matrix that asked were decided together. */
const checkTogether = (context: CheckContext, { gates }: Call, decided: JobFacts): void => {
  for (const other of gates.values()) {
    if (other.buildId !== decided.buildId || other.end || other.gate!.decision) continue;
    const isOfMatrix = graphJobOf(context, other).definition === graphJobOf(context, decided).definition;
    const isDecided = context.storage.rows.jobs.get(other.id)!.gate!.decision !== null;
    must(32, isDecided === isOfMatrix, "a decision applied to another gate, or not to the whole matrix");
  }
};

export const checkGateDecided = (context: CheckContext, call: Call): void => {
  const { input, now, audits } = call;
  // A gate that began to ask in this very call is not among the earlier ones.
  const before = asked(context, call);
  if (!before) return;
  const known = before.gate!.decision;
  must(32, mayDecide(input.role, graphJobOf(context, before).gate!.by), `a ${input.role} decided a gate`);
  const after = context.storage.rows.jobs.get(before.id)!.gate!.decision;
  must(32, after?.approved === input.approved, "a gate's decision differs from the person's");
  if (known) return;
  must(32, now < before.gate!.until, "a decision came after its gate's deadline");
  must(32, !before.end, "a decision came after the end of its job");
  checkTogether(context, call, before);
  must(
    40,
    audits.includes(`job.${input.approved ? "approve" : "reject"} ${before.id}`),
    "a decision left no audit entry",
  );
};

export const checkGateRefused = (context: CheckContext, call: Call): void => {
  const { input, now } = call;
  const before = asked(context, call);
  if (!before || before.end || now >= before.gate!.until) return;
  if (context.storage.rows.jobs.get(before.id)?.end) return;
  const known = before.gate!.decision;
  const isAllowed =
    mayDecide(input.role, graphJobOf(context, before).gate!.by) && (!known || known.approved === input.approved);
  must(32, !isAllowed, "a permitted person's decision was rejected");
};
