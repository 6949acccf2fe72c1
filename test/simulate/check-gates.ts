import type { JobNode } from "../../src/domain/jobs/node.ts";
import type { Change } from "../../src/domain/pool/facts.ts";
import { mayDecide } from "./job-specification.ts";
import type { Call, CheckContext } from "./observations.ts";
import { must } from "./violation.ts";

/** A decision is made once, by a call that decides. Storage still has the node from before. */
export const checkDecisions = ({ call, storage }: CheckContext, changes: readonly Change[]): void => {
  for (const change of changes) {
    if (change.kind !== "node") continue;
    const before = storage.rows.nodes.get(change.node.id)?.gate?.decision ?? null;
    const after = change.node.gate?.decision ?? null;
    if (JSON.stringify(before) === JSON.stringify(after)) continue;
    must(32, before === null, "a decision changed");
    must(32, call.command === "decideGate", "a gate was decided by nobody");
  }
};

/** The job that a decision is about: of a build, the only one that asks. */
const asked = ({ storage }: CheckContext, { input, gates }: Call): JobNode | undefined => {
  const node = gates.get(input.id);
  if (node || storage.rows.nodes.has(input.id)) return node;
  const asking = [...gates.values()].filter(
    ({ buildId, end, gate }) => buildId === input.id && !end && !gate!.decision,
  );
  return asking.length === 1 ? asking[0] : undefined;
};

const gateOf = ({ storage }: CheckContext, { id, buildId }: JobNode) =>
  storage.rows.graphs.get(buildId)!.graph.jobs.find((job) => job.id === id)!.gate!;

export const checkGateDecided = (context: CheckContext, call: Call): void => {
  const { input, now, audits } = call;
  // A gate that was asked in this very call is not among those from before.
  const before = asked(context, call);
  if (!before) return;
  const known = before.gate!.decision;
  must(32, mayDecide(input.role, gateOf(context, before).by), `a ${input.role} decided a gate`);
  const after = context.storage.rows.nodes.get(before.id)!.gate!.decision;
  must(32, after?.approved === input.approved, "a gate was not decided as it was said");
  if (known) return;
  must(32, now < before.gate!.until, "a decision came after the time of its gate");
  must(32, !before.end, "a decision came after the end of its job");
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
  if (context.storage.rows.nodes.get(before.id)?.end) return;
  const known = before.gate!.decision;
  const isAllowed = mayDecide(input.role, gateOf(context, before).by) && (!known || known.approved === input.approved);
  must(32, !isAllowed, "a decision of an allowed person was refused");
};
