import type { ProblemKind } from "../../protocol/problem.ts";

export const TAGS = {
  Variables:
    "Variables and secrets: what builds find in their environment. A secret's value goes in and never comes out.",
  Groups: "Named collections of variables, which pipelines attach in order.",
  Repositories: "Source repositories that builds are made of.",
  Pipelines: "What is run for a repository, by which agents, with which groups of variables.",
  Builds: "Triggered here, run by agents, watched through their log.",
  Agents: "The machines that build, as people see them.",
  "Agent protocol":
    "What an agent program calls, in this order: register once; poll; start; heartbeat, progress and log while it works; finish or release. Each call about a build carries its lease in `X-Lease`.",
  Tokens: "Who may call. A token is shown once, when it is made.",
  Audit: "Who changed what, and who was handed which secrets.",
  Operator: "For whoever runs the service: organizations and upkeep.",
} as const;
export type Tag = keyof typeof TAGS;

/** What a route's own code does not say: its name, its words, and the refusals that its rules may end in. */
export interface Operation {
  id: string;
  tag: Tag;
  summary: string;
  description?: string;
  /** Beyond those that every route of its shape has. */
  problems?: ProblemKind[];
  /** The record has an ETag, and PUT and DELETE take If-Match. */
  versioned?: true;
  /** It takes an Idempotency-Key. */
  idempotent?: true;
  /** It speaks about a build and names the lease of it. */
  leased?: true;
  /** Successful answers besides the route's own. */
  also?: Partial<Record<"101" | "204" | "206" | "416", string>>;
  /** Media types of its answer besides JSON, or instead of it. */
  text?: { types: string[]; alone?: true };
  /** Media type of its body where that is not JSON. */
  bytes?: true;
}

const TRIGGER_PROBLEMS: ProblemKind[] = ["conflict", "idempotency-mismatch", "limit-reached", "too-large"];

/** By method and path, as the table of routes has them. */
export const OPERATIONS: Record<string, Operation> = {
  "GET /organization": {
    ...{ id: "listOrganizations", tag: "Operator", summary: "List organizations" },
    description: "In the order of their slugs.",
  },
  "POST /organization": {
    ...{ id: "createOrganization", tag: "Operator", summary: "Make an organization and its first admin's token" },
    description: "The token is in the answer, this once. The slug is never used again.",
    problems: ["duplicate"],
  },
  "POST /organization/:id/token": {
    ...{ id: "createAdminToken", tag: "Operator", summary: "Make an admin's token for an organization" },
    description: "The way back in when an organization's last admin token is lost.",
  },

  "GET /token": { id: "listTokens", tag: "Tokens", summary: "List tokens" },
  "POST /token": {
    ...{ id: "createToken", tag: "Tokens", summary: "Make a token" },
    description:
      "Kind `api` is for people and programs and has a role; kind `registration` can only register agents, and grants at most its `labels`.",
  },
  "GET /token/self": { id: "getOwnToken", tag: "Tokens", summary: "Show the token that calls", versioned: true },
  "GET /token/:id": { id: "getToken", tag: "Tokens", summary: "Show a token", versioned: true },
  "PUT /token/:id": {
    ...{ id: "updateToken", tag: "Tokens", summary: "Change a token's name, role, labels or end", versioned: true },
    description:
      "Holds from the next request on. Agents that it registered keep the labels they were granted. The last admin may step down too: the operator can make another.",
    problems: ["conflict"],
  },
  "DELETE /token/:id": {
    ...{ id: "revokeToken", tag: "Tokens", summary: "Revoke a token", versioned: true },
    description:
      "Holds from the next write, hand-out or agent call; a read that a replica serves may trail by its lag. Agents that it registered stay, unless `agents=true`: then they are removed, and their builds are free for others at once. That may be repeated, also when the token is gone already.",
  },
  "POST /token/:id/rotate": {
    ...{ id: "rotateToken", tag: "Tokens", summary: "Replace a token's secret", versioned: true },
    description: "The one before stays good for `graceSeconds`, so that programs can change over.",
    problems: ["conflict"],
  },

  "GET /secrets/variables": {
    ...{ id: "listVariables", tag: "Variables", summary: "List variables" },
    description: "Filters narrow each other. Inactive ones are left out unless `includeInactive=true`.",
  },
  "POST /secrets/variables": {
    ...{ id: "createVariable", tag: "Variables", summary: "Create a variable or secret", versioned: true },
    description:
      "The scope decides which id is needed: `organization` orgId; `group` orgId and groupId; `repository` repoId; `pipeline` pipelineId. A secret that hides badly answers with `warnings`.",
    problems: ["duplicate", "conflict"],
  },
  "GET /secrets/variables/:id": {
    ...{ id: "getVariable", tag: "Variables", summary: "Show a variable", versioned: true },
  },
  "PUT /secrets/variables/:id": {
    ...{ id: "updateVariable", tag: "Variables", summary: "Change a variable", versioned: true },
    description:
      "A field left out stays. A secret becomes a plain variable only together with a new value: none is ever unmasked.",
    problems: ["duplicate", "conflict"],
  },
  "DELETE /secrets/variables/:id": {
    ...{
      id: "deleteVariable",
      tag: "Variables",
      summary: "Delete a variable",
      versioned: true,
      problems: ["conflict"],
    },
  },

  "GET /secrets/variables/:id/uses": {
    ...{ id: "listUses", tag: "Variables", summary: "List the builds that were given a variable" },
    description: "The newest 200.",
  },
  "GET /secrets/unused": {
    ...{ id: "listUnused", tag: "Variables", summary: "List secrets that no build was given lately" },
  },

  "GET /secrets/groups": {
    ...{ id: "listGroups", tag: "Groups", summary: "List groups" },
    description: "With `includeVariables=true` each group comes with its variables, without secrets' values.",
  },
  "POST /secrets/groups": {
    ...{ id: "createGroup", tag: "Groups", summary: "Create a group", versioned: true },
    problems: ["duplicate"],
  },
  "GET /secrets/groups/:id": { id: "getGroup", tag: "Groups", summary: "Show a group", versioned: true },
  "PUT /secrets/groups/:id": {
    ...{ id: "updateGroup", tag: "Groups", summary: "Change a group", versioned: true },
    problems: ["duplicate", "conflict"],
  },
  "DELETE /secrets/groups/:id": {
    ...{ id: "deleteGroup", tag: "Groups", summary: "Delete a group with its variables", versioned: true },
    problems: ["in-use", "conflict"],
  },

  "GET /repository": { id: "listRepositories", tag: "Repositories", summary: "List repositories" },
  "POST /repository": {
    ...{ id: "connectRepository", tag: "Repositories", summary: "Connect a repository", versioned: true },
    problems: ["duplicate"],
  },
  "GET /repository/:id": { id: "getRepository", tag: "Repositories", summary: "Show a repository", versioned: true },
  "PUT /repository/:id": {
    ...{ id: "updateRepository", tag: "Repositories", summary: "Change a repository", versioned: true },
    problems: ["duplicate", "conflict"],
  },
  "DELETE /repository/:id": {
    ...{ id: "deleteRepository", tag: "Repositories", summary: "Disconnect a repository", versioned: true },
    description: "Its pipelines, variables and credential go with it. Refused while a build of it waits or runs.",
    problems: ["in-use", "conflict"],
  },
  "POST /repository/:id/build": {
    ...{ id: "triggerRepositoryBuild", tag: "Builds", summary: "Build a repository with its default pipeline" },
    ...{ idempotent: true, problems: TRIGGER_PROBLEMS },
  },
  "PUT /repository/:id/credential": {
    ...{ id: "setCredential", tag: "Repositories", summary: "Store the credential that clones the repository" },
    description: "Replaces the one before. Only the fetch of a build is given it; its value is never returned.",
    problems: ["conflict"],
  },
  "DELETE /repository/:id/credential": {
    ...{ id: "deleteCredential", tag: "Repositories", summary: "Forget the clone credential", problems: ["conflict"] },
  },

  "GET /pipeline": { id: "listPipelines", tag: "Pipelines", summary: "List pipelines" },
  "POST /pipeline": {
    ...{ id: "createPipeline", tag: "Pipelines", summary: "Create a pipeline", versioned: true },
    description: "The first pipeline of a repository becomes its default. `groupIds` are in order: a later one wins.",
    problems: ["duplicate", "limit-reached", "conflict"],
  },
  "POST /pipeline/check": {
    ...{ id: "checkPipeline", tag: "Pipelines", summary: "Check a pipeline file without keeping or building it" },
    description:
      "Every mistake at once, with its line and column. With a repository or pipeline, variables that nobody set are found too.",
  },
  "GET /pipeline/:id": { id: "getPipeline", tag: "Pipelines", summary: "Show a pipeline", versioned: true },
  "PUT /pipeline/:id": {
    ...{ id: "updatePipeline", tag: "Pipelines", summary: "Change a pipeline", versioned: true },
    problems: ["duplicate", "conflict"],
  },
  "DELETE /pipeline/:id": {
    ...{ id: "deletePipeline", tag: "Pipelines", summary: "Delete a pipeline with its variables", versioned: true },
    problems: ["in-use", "conflict"],
  },
  "GET /pipeline/:id/environment": {
    ...{ id: "previewEnvironment", tag: "Pipelines", summary: "Show what a build would find in its environment" },
    description: "Per key the scope that wins and what it overrides. Never a secret's value.",
  },

  "GET /build": {
    ...{ id: "listBuilds", tag: "Builds", summary: "List builds, newest first" },
    description: "50 a page unless `limit` says otherwise. May lag behind the single build by a moment.",
  },
  "POST /build": {
    ...{ id: "triggerBuild", tag: "Builds", summary: "Build a repository or pipeline" },
    description:
      "`envVariables` override every other scope for this run; they are kept sealed and never returned. Whoever may trigger can run code with the secrets of the build.",
    ...{ idempotent: true, problems: TRIGGER_PROBLEMS },
  },
  "GET /build/:id": { id: "getBuild", tag: "Builds", summary: "Show a build" },
  "POST /build/:id/cancel": {
    ...{ id: "cancelBuild", tag: "Builds", summary: "Cancel a build", problems: ["conflict"] },
    description: "Again while it is canceling: 200. Of a build that has ended: 409.",
  },
  "GET /build/:id/explain": { id: "explainBuild", tag: "Builds", summary: "Tell why a build waits, agent by agent" },
  "POST /build/:id/retry": {
    ...{ id: "retryBuild", tag: "Builds", summary: "Build again with the same inputs" },
    ...{ idempotent: true, problems: TRIGGER_PROBLEMS },
  },
  "GET /build/:id/log": {
    ...{ id: "readLog", tag: "Builds", summary: "Read or follow a build's log" },
    description:
      "As text, whole or a `Range` of it. With `Accept: text/event-stream` it follows the log live: each event's data is one JSON string, `Last-Event-ID` resumes, the event `end` closes it.",
    text: { types: ["text/plain", "text/event-stream"], alone: true },
    also: { 206: "The bytes that `Range` asked for", 416: "The log has no such bytes" },
  },

  "GET /buildagent": { id: "listAgents", tag: "Agents", summary: "List agents" },
  "GET /buildagent/metrics": {
    ...{ id: "readMetrics", tag: "Agents", summary: "Show how many builds wait, for which agents, and for how long" },
    description: "As JSON, or with `Accept: text/plain` as Prometheus scrapes it.",
    text: { types: ["text/plain"] },
  },
  "POST /buildagent/register": {
    ...{ id: "registerAgent", tag: "Agent protocol", summary: "Register an agent" },
    description: "The agent's own token is in the answer, this once. Unknown fields are ignored.",
    problems: ["limit-reached"],
  },
  "GET /buildagent/:id": { id: "getAgent", tag: "Agents", summary: "Show an agent" },
  "PUT /buildagent/:id": {
    ...{ id: "updateAgent", tag: "Agents", summary: "Change an agent, or drain it" },
    description:
      "An agent's own token may change its name and version alone: what it was registered with bounds it until a maintainer says otherwise.",
  },
  "DELETE /buildagent/:id": {
    ...{ id: "deleteAgent", tag: "Agents", summary: "Remove an agent" },
    description: "Nothing of it is accepted any more, and its build is free for another at once.",
  },
  "GET /buildagent/:id/poll": {
    ...{ id: "pollForJob", tag: "Agent protocol", summary: "Wait for a build to run" },
    description:
      "Answers as soon as there is one, at the latest after `wait` seconds. The same build under the same lease comes again until it is started, so a lost answer loses nothing. As a WebSocket it carries hints only: `look` and `cancel`. The one message that the socket takes is the text `ping`; anything else closes it with 1008, and of an agent's sockets and waiting polls the newest two stay open.",
    also: { 101: "A WebSocket on which hints come", 204: "Nothing to build just now" },
    problems: ["conflict"],
  },
  "POST /buildagent/:id/heartbeat": {
    ...{ id: "heartbeat", tag: "Agent protocol", summary: "Say that the agent is alive, and extend its lease" },
    description: "Every `heartbeatSeconds` while it builds. A lease that is over is no refusal: `cancel` says so.",
  },
  "POST /build/:id/start": {
    ...{ id: "startBuild", tag: "Agent protocol", summary: "Confirm that the job has arrived", leased: true },
    description: "Before anything is run. Refused: drop the job, it is another's by now.",
    problems: ["lease-lost", "conflict"],
  },
  "POST /build/:id/progress": {
    ...{ id: "reportProgress", tag: "Agent protocol", summary: "Tell the commit, the steps, and values to mask" },
    description: "Values to mask hold for what of the log comes after this call.",
    ...{ leased: true, problems: ["lease-lost", "conflict"] },
  },
  "POST /build/:id/release": {
    ...{ id: "releaseBuild", tag: "Agent protocol", summary: "Give a build back for another agent", leased: true },
    description:
      "With what its file requires it waits for an agent that has it, and no attempt is used. With `elsewhere`, once a build, when this agent cannot fetch it: it is then passed over while another that fits is online, and where there is none the answer is 409. With `interrupted` the attempt counts, and any agent may have the next.",
    problems: ["lease-lost", "conflict"],
  },
  "PUT /build/:id/log": {
    ...{ id: "writeLog", tag: "Agent protocol", summary: "Send a part of the log", leased: true, bytes: true },
    description:
      "`offset` counts the bytes sent under this lease. `next` tells up to where they are stored: what the masker must hold back is sent again with the next chunk.",
    problems: ["lease-lost", "log-gap", "conflict", "too-large"],
  },
  "POST /build/:id/finish": {
    ...{ id: "finishBuild", tag: "Agent protocol", summary: "Report the result", leased: true },
    description: "The same result again is 200, another one 409.",
    problems: ["lease-lost", "conflict"],
  },

  "GET /audit": {
    ...{ id: "listAudit", tag: "Audit", summary: "List changes and hand-outs, newest first" },
    description: "50 a page unless `limit` says otherwise. Names of keys, never values.",
  },
  "GET /operator/rewrap": {
    ...{ id: "countSealed", tag: "Operator", summary: "Count what is sealed with which key" },
    description: "A key may be taken off the ring once its counts are zero twice in a row.",
  },
  "POST /operator/rewrap": {
    ...{ id: "rewrap", tag: "Operator", summary: "Seal one batch again with the current key" },
    description: "Repeat it until `isComplete`. It may be stopped at any point and runs beside changes, which win.",
  },
};
