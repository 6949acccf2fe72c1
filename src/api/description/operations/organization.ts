import { LIMITS } from "../../../protocol/limits.ts";
import type { Operations } from "../documentation.ts";

/** Operations, by group. */
export const ORGANIZATION_OPERATIONS: Record<string, Operations> = {
  Variables: {
    listVariables: {
      summary: "List variables",
      description:
        "Filters combine: a variable must match all of them. The list has inactive variables only with `includeInactive=true`.",
    },
    createVariable: {
      summary: "Create a variable or secret",
      description:
        "The scope decides which ids are required: `organization` orgId; `group` orgId and groupId; `repository` repoId; `pipeline` pipelineId. The answer has `warnings` if the secret cannot be masked well.",
      versioned: true,
      problems: ["duplicate", "limit-reached"],
    },
    listUnused: { summary: "List secrets that no build received recently" },
    listUses: {
      summary: "List the first build of each day that received a variable",
      description:
        "The newest 200 days. The audit log records every time that an agent received variables, with the keys: `build.deliver`.",
    },
    getVariable: { summary: "Get a variable", versioned: true },
    updateVariable: {
      summary: "Update a variable",
      description:
        "Omitted fields stay unchanged. A secret becomes a plain variable only together with a new value, so an update never reveals a stored secret.",
      versioned: true,
      problems: ["duplicate", "conflict"],
    },
    deleteVariable: { summary: "Delete a variable", versioned: true, problems: ["conflict"] },
  },
  Groups: {
    listGroups: {
      summary: "List groups",
      description: `With \`includeVariables=true\` each group contains its variables, without the values of secrets. A page then has at most ${LIMITS.pageLength} variables, and may have fewer groups than \`limit\`. A group with more variables comes without them: list these with \`groupId\`.`,
    },
    createGroup: { summary: "Create a group", versioned: true, problems: ["duplicate", "limit-reached"] },
    getGroup: { summary: "Get a group", versioned: true },
    updateGroup: { summary: "Update a group", versioned: true, problems: ["duplicate", "conflict"] },
    deleteGroup: { summary: "Delete a group and its variables", versioned: true, problems: ["in-use", "conflict"] },
  },
  Agents: {
    listAgents: { summary: "List agents" },
    readMetrics: {
      summary: "Get queue and agent metrics",
      description:
        "How many builds wait, for which agents, and for how long. JSON, or the Prometheus text format with `Accept: text/plain`.",
      text: { types: ["text/plain"] },
    },
    getAgent: { summary: "Get an agent" },
    updateAgent: {
      summary: "Update or drain an agent",
      description:
        "An agent's own token may change only its name and version. Other fields keep the values of the registration until a maintainer changes them.",
    },
    deleteAgent: {
      summary: "Remove an agent",
      description: "The agent's token stops working, and its build returns to the queue.",
    },
  },
  Tokens: {
    listTokens: { summary: "List tokens" },
    createToken: {
      summary: "Create a token",
      description:
        "A token of kind `api` is for a person or program and has a role. A token of kind `registration` can only register agents, which may only have labels from its `labels`.",
      problems: ["limit-reached"],
    },
    getOwnToken: { summary: "Get the token of this request", versioned: true },
    getToken: { summary: "Get a token", versioned: true },
    updateToken: {
      summary: "Update a token's name, role, labels or expiry",
      description:
        "The change applies from the next request on. Agents that the token registered keep their labels. Even the last admin token may lose its role: the operator can create another.",
      versioned: true,
      problems: ["conflict"],
    },
    rotateToken: {
      summary: "Replace a token's secret",
      description: "The old secret stays valid for `graceSeconds`, so that programs can switch to the new one.",
      versioned: true,
      problems: ["conflict"],
    },
    revokeToken: {
      summary: "Revoke a token",
      description:
        "The service rejects the token from the next write, job request or agent call on. A read from a replica may accept it until the replica has caught up. Agents that the token registered stay. With `agents=true` the service removes them, and their builds return to the queue. You can repeat this request even when the token no longer exists.",
      versioned: true,
      problems: ["conflict"],
    },
  },
  Audit: {
    listAudit: {
      summary: "List the entries of the audit log, newest first",
      description: "Entries contain the names of keys, never values.",
    },
  },
  Operator: {
    listOrganizations: { summary: "List organizations", description: "Sorted by slug." },
    createOrganization: {
      summary: "Create an organization and its first admin token",
      description: "The answer contains the token; no later answer does. The slug is never used again.",
      problems: ["duplicate"],
    },
    createAdminToken: {
      summary: "Create an admin token for an organization",
      description: "Restores access when the last admin token of an organization is lost.",
      problems: ["conflict"],
    },
    updateOrganization: {
      summary: "Set the limits of an organization",
      description:
        "Sets the limits that you send in `limits`; null restores the default. A limit below the current use removes nothing.",
      problems: ["conflict"],
    },
    deleteOrganization: {
      summary: "Delete an organization and everything that it has",
      description:
        "From the first request on, the service rejects the organization's tokens and agents. A minute later, when their requests have ended, each request deletes a share. Repeat it until the answer is 204, or leave the rest to the service, which continues every minute. Nothing can be restored, and the slug is never used again.",
      also: { 204: "Everything is deleted" },
    },
    exportOrganization: {
      summary: "Export everything that an organization has",
      description:
        "Each line is JSON. The first page's first line has the version and the nouns. Every other line has a `noun` and a `record` in the form that the API returns. The export contains no secret value and no token. The pages cover all nouns, or the one that `noun` names. Logs are not included: read each at `/build/{id}/log`.",
      text: { types: ["application/jsonl"], alone: true },
    },
    reconcileRestored: {
      summary: "Reconcile the pools with the database after a restore",
      description:
        "Send it after you restored the database, or pools, to an earlier time. Each pool writes its state to the database again, or adopts the database's state. Repeat the request with the answer's `after` until that is null. You can interrupt and repeat it.",
      problems: ["not-found"],
    },
    restorePool: {
      summary: "Restore an organization's pool to an earlier time",
      description:
        "Uses the point-in-time recovery of Durable Objects, which reaches back 30 days and exists only on Cloudflare: elsewhere the answer is 409. The pool reconciles itself with the database before it hands out anything. docs/recovery.md says what is lost.",
      problems: ["not-found", "conflict"],
    },
    countSealed: {
      summary: "Count the values that are sealed with each key",
      description: "You can remove a key from the keyring when its counts are zero in two consecutive answers.",
    },
    rewrap: {
      summary: "Reseal a batch of values with the current key",
      description:
        "Repeat the request until `isComplete` is true. You can interrupt it at any point. Concurrent changes take precedence.",
    },
    readServiceMetrics: {
      summary: "Get metrics of the whole deployment",
      description:
        "For the people on call: the results of the last upkeep run, across organizations. JSON, or the Prometheus text format with `Accept: text/plain`. The request calls no pool.",
      text: { types: ["text/plain"] },
    },
    listDeadLetters: {
      summary: "List an organization's dead letters",
      description:
        "Changes and rows that the pool could not deliver or read, sorted by number. Each entry has its subject and the reason, never the content.",
      problems: ["not-found"],
    },
    retryDeadLetters: {
      summary: "Retry dead letters",
      description:
        "Retries the dead letters in `seqs`; without `seqs`, those of the first page. One that fails again becomes a dead letter with a new number.",
      problems: ["not-found"],
    },
  },
};
