import { closestName } from "../../domain/closest-name.ts";
import { tagOf } from "../../domain/git-ref.ts";
import { isTouched } from "../../domain/patterns.ts";
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

/** What asks for a group: a job, or a build that has no jobs and names none. */
export interface GroupRequest {
  /** Names of the groups that the job asks for. */
  groups: readonly string[];
  branch: string;
  /** What a person decided before the job was queued. */
  decision: Pick<GateDecision, "approved" | "role"> | null;
  trust: Trust;
}

/**
 * Whether variables may leave for builds of the ref. Where patterns are given for one kind of ref alone, the other kinds
 * are not allowed: whoever may push a tag would otherwise get what only a branch should.
 */
export const allowsRef = ({ branches, tags }: GroupProtection, branch: string): boolean => {
  if (branches === null && tags === null) return true;
  const tag = tagOf(branch);
  if (tag !== null) return isTouched(tags ?? [], [tag]) === true;
  return !branch.startsWith("refs/") && isTouched(branches ?? [], [branch]) === true;
};

/** Why a job that asks for the group cannot have it; null where it can. */
const explainRefusal = (
  { name, protection }: AttachedGroup,
  { branch, decision, trust }: GroupRequest,
): string | null => {
  if (protection === null) return null;
  if (trust === "untrusted") return `The variable group ${name} is protected: an untrusted build never gets it.`;
  if (!allowsRef(protection, branch))
    return `The variable group ${name} is protected: it is not for this branch or tag.`;
  const { approval } = protection;
  const isApproved = approval === null || (decision?.approved === true && includesRole(decision.role, approval));
  return isApproved
    ? null
    : `The variable group ${name} is protected: a person with role ${approval} has to approve it.`;
};

/** The groups whose variables leave, in their order; `refused` says why a group that is asked for may not. */
export const openGroups = (
  attached: readonly AttachedGroup[],
  request: GroupRequest,
): { groupIds: string[]; refused: string | null } => {
  const missing = request.groups.find((group) => !attached.some(({ name }) => name === group));
  const requestedGroups = attached.filter(({ name }) => request.groups.includes(name));
  const refusals = requestedGroups.map((group) => explainRefusal(group, request)).filter((reason) => reason !== null);
  const missingReasons =
    missing === undefined ? [] : [`The pipeline does not have the variable group ${missing} any more.`];
  const open = attached.filter(({ name, protection }) => protection === null || request.groups.includes(name));
  return { groupIds: open.map(({ id }) => id), refused: [...missingReasons, ...refusals][0] ?? null };
};

/** The highest role that a protected group asks for before a job of the ref may have it; null where none is asked. */
export const requiredApproval = (groups: readonly AttachedGroup[], branch: string): Role | null =>
  groups.reduce<Role | null>((highest, { protection }) => {
    const role = protection && allowsRef(protection, branch) ? protection.approval : null;
    return role && (highest === null || includesRole(role, highest)) ? role : highest;
  }, null);

/** The gate of a job that asks for a protected group and has none of its own. */
const GATE_OF_GROUP = { message: null, timeoutHours: 72, hostStatus: "success" } as const satisfies Partial<Gate>;

/**
 * The job with the gate that its protected groups ask for: one decision, by the highest role. A group that is not for
 * this ref, or that an untrusted build asks for, adds none, so that nobody is asked to approve what cannot be had.
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

/** A mistake for each name of a group that the pipeline does not have. */
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
