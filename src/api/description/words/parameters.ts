import { LIMITS } from "../../../protocol/limits.ts";

/** The description of each query parameter by its name, or by the operation's id and its name. */
export const PARAMETERS: Record<string, string> = {
  action: "Only entries of this action, such as variable.create.",
  actor: "Only entries of this actor: token:ID, agent:ID, operator or system.",
  agents: "true: also removes the agents that the token registered.",
  attempt: "The number of the attempt, from 1. Default: the latest attempt.",
  branch: "Only builds of exactly this branch or ref.",
  "previewEnvironment branch": "The branch of the build.",
  cloneUrl: "Only repositories with exactly this clone address.",
  cursor: "Start of the page, from the Link header of the page before. Opaque.",
  days: `Only secrets that were not used for this many days: 1 to ${LIMITS.unusedDays}.`,
  final: "true: this chunk is the last one.",
  fullName: "Only repositories with exactly this owner and name.",
  groupId: "Only variables of this group.",
  includeInactive: "true: also lists inactive variables.",
  includeVariables: "true: each group contains its variables.",
  key: "Only variables with exactly this name.",
  limit: "Number of records on a page.",
  name: "Only records with exactly this name.",
  noun: "Only records of this kind.",
  offset: "Where the chunk starts: the number of bytes sent before under this lease.",
  orgId: "The organization of the token. Any other is refused.",
  pipelineId: "Only records of this pipeline.",
  repoId: "Only records of this repository.",
  scope: "Only variables of this scope.",
  since: "Only entries from this time on.",
  status: "Only builds in this state.",
  subject: "Only entries about the record with this id.",
  until: "Only entries before this time.",
  wait: `Seconds to wait for a build: 0 to ${LIMITS.pollSeconds}.`,
};

/** The description of the id in a path, by the path before it. */
export const SUBJECTS: Record<string, string> = {
  "/organization": "Slug of the organization.",
  "/token": "Id of the token.",
  "/secrets/variables": "Id of the variable.",
  "/secrets/groups": "Id of the group.",
  "/repository": "Id of the repository.",
  "/pipeline": "Id of the pipeline.",
  "/build": "Id of the build.",
  "/buildagent": "Id of the agent.",
};
