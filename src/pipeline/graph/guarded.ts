import { closestName } from "../../domain/closest-name.ts";
import { includesRole } from "../../protocol/token.ts";
import { type AsksForGroups, type AttachedGroup, approvalOf } from "../group-protection.ts";
import type { Plan } from "../parse/plan.ts";
import type { Mistake } from "../yaml/mistake.ts";
import type { Gate, GraphJob } from "./graph.ts";

/** The gate of a job that asks for a protected group and has none of its own. */
const GATE_OF_GROUP = { message: null, timeoutHours: 72, hostStatus: "success" } as const satisfies Partial<Gate>;

/**
 * The job with the gate that its protected groups ask for: one decision, by the highest role. A group that is not for
 * this ref, or that an untrusted build asks for, adds none, so that nobody is asked to approve what cannot be had.
 */
export const withGate = (
  job: GraphJob,
  attached: readonly AttachedGroup[],
  { branch, trust }: Pick<AsksForGroups, "branch" | "trust">,
): GraphJob => {
  if (trust === "untrusted") return job;
  const asked = attached.filter(({ name }) => job.groups.includes(name));
  const role = approvalOf(asked, branch);
  if (role === null) return job;
  const { gate } = job;
  const by = gate && includesRole(gate.by, role) ? gate.by : role;
  return { ...job, gate: { ...(gate ?? GATE_OF_GROUP), by } };
};

const TOP = { line: 1, column: 1 };

/** A mistake for each name of a group that the pipeline does not have. */
export const unknownGroups = (plan: Plan, attached: readonly AttachedGroup[]): Mistake[] => {
  const known = attached.map(({ name }) => name);
  const asking = plan.jobs ?? [{ groups: plan.groups, position: TOP }];
  return asking.flatMap(({ groups, position }) =>
    groups
      .filter((wanted) => !known.includes(wanted))
      .map((wanted) => {
        const suggestion = closestName(wanted, known);
        const message = "`groups` names a variable group that the pipeline does not have";
        return { ...position, message, ...(suggestion === undefined ? {} : { suggestion }) };
      }),
  );
};
