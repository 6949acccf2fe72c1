import { closestName } from "../../domain/closest-name.ts";
import { tagOf } from "../../domain/git-ref.ts";
import { isRefIn } from "../../domain/patterns.ts";
import type { Trust } from "../../protocol/build.ts";
import type { GroupProtection } from "../../protocol/group.ts";
import { includesRole, type Role } from "../../protocol/token.ts";
import type { Mistake } from "../mistake.ts";
import type { Plan } from "../parse/plan.ts";
import type { Gate, GraphJob } from "./graph.ts";
import type { GateDecision } from "./job-end.ts";

/** A variable group that a pipeline attaches. */
export interface AttachedGroup {
  id: string;
  name: string;
  protection: GroupProtection | null;
}

/** A job that requests groups, or a build without jobs, which requests no groups. */
export interface GroupRequest {
  /** The names of the groups that the job requests. */
  groups: readonly string[];
  branch: string;
  /** A person's decision before the job was queued. */
  decision: Pick<GateDecision, "approved" | "role"> | null;
  trust: Trust;
}

/**
 * Reports whether builds of the ref may get the variables. If only one kind of ref has patterns, no ref of the other
 * kinds is allowed. Otherwise anyone who can push a tag would get a branch's variables.
 */
export const allowsRef = ({ branches, tags }: GroupProtection, branch: string): boolean => {
  if (branches === null && tags === null) return true;
  const tag = tagOf(branch);
  if (tag !== null) return isRefIn(tags ?? [], tag);
  return !branch.startsWith("refs/") && isRefIn(branches ?? [], branch);
};

/** Returns why a job that requests the group cannot have it; null if it can. */
const explainRefusal = (
  { name, protection }: AttachedGroup,
  { branch, decision, trust }: GroupRequest,
): string | null => {
  if (protection === null) return null;
  if (trust === "untrusted") return `The variable group ${name} is protected: an untrusted build never gets it.`;
  if (!allowsRef(protection, branch))
    return `The variable group ${name} is protected: this branch or tag cannot use it.`;
  const { approval } = protection;
  const isApproved = approval === null || (decision?.approved === true && includesRole(decision.role, approval));
  return isApproved
    ? null
    : `The variable group ${name} is protected: a person with the role ${approval} must approve it.`;
};

/**
 * Returns the groups whose variables the job gets, in order. `refused` explains why a requested group is not among
 * them.
 */
export const openGroups = (
  attached: readonly AttachedGroup[],
  request: GroupRequest,
): { groupIds: string[]; refused: string | null } => {
  const missing = request.groups.find((group) => !attached.some(({ name }) => name === group));
  const requestedGroups = attached.filter(({ name }) => request.groups.includes(name));
  const refusals = requestedGroups.map((group) => explainRefusal(group, request)).filter((reason) => reason !== null);
  const missingReasons = missing === undefined ? [] : [`The pipeline no longer has the variable group ${missing}.`];
  const open = attached.filter(({ name, protection }) => protection === null || request.groups.includes(name));
  return { groupIds: open.map(({ id }) => id), refused: [...missingReasons, ...refusals][0] ?? null };
};

/**
 * Returns the highest role that must approve before a job of the ref may get its protected groups; null if nobody must
 * approve.
 */
export const requiredApproval = (groups: readonly AttachedGroup[], branch: string): Role | null =>
  groups.reduce<Role | null>((highest, { protection }) => {
    const role = protection && allowsRef(protection, branch) ? protection.approval : null;
    return role && (highest === null || includesRole(role, highest)) ? role : highest;
  }, null);

/** The gate of a job that requests a protected group and has no gate of its own. */
const GATE_OF_GROUP = { message: null, timeoutHours: 72, hostStatus: "success" } as const satisfies Partial<Gate>;

/**
 * Returns the job with the gate that its protected groups require. The gate has one decision, by the highest role. A
 * group adds no gate if it does not allow this ref, or if the build is untrusted. Otherwise a person would approve
 * something that the job cannot have.
 */
export const withGate = (
  job: GraphJob,
  attached: readonly AttachedGroup[],
  { branch, trust }: Pick<GroupRequest, "branch" | "trust">,
): GraphJob => {
  if (trust === "untrusted") return job;
  const requestedGroups = attached.filter(({ name }) => job.groups.includes(name));
  const role = requiredApproval(requestedGroups, branch);
  if (role === null) return job;
  const { gate } = job;
  const by = gate && includesRole(gate.by, role) ? gate.by : role;
  return { ...job, gate: { ...(gate ?? GATE_OF_GROUP), by } };
};

const TOP = { line: 1, column: 1 };

/** Reports each name of a group that the pipeline does not have. */
export const unknownGroups = (plan: Plan, attached: readonly AttachedGroup[]): Mistake[] => {
  const groupNames = attached.map(({ name }) => name);
  const requests = plan.jobs ?? [{ groups: plan.groups, position: TOP }];
  return requests.flatMap(({ groups, position }) =>
    groups
      .filter((group) => !groupNames.includes(group))
      .map((group) => {
        const suggestion = closestName(group, groupNames);
        const message = "`groups` names a variable group that the pipeline does not have";
        return { ...position, message, ...(suggestion === undefined ? {} : { suggestion }) };
      }),
  );
};
