import type { Operations } from "../documentation.ts";

/** Operations, by group. */
export const ORGANIZATION_OPERATIONS: Record<string, Operations> = {
  Variables: {
    listVariables: {
      summary: "List variables",
      description:
        "Filters combine: a variable must match all of them. Inactive variables are listed with `includeInactive=true` only.",
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
      description: "The newest 200 days. The audit has every hand-out, with the keys: `build.deliver`.",
    },
    getVariable: { summary: "Get a variable", versioned: true },
    updateVariable: {
      summary: "Update a variable",
      description:
        "Fields that are left out stay unchanged. A secret becomes a plain variable only together with a new value, so that no stored secret is ever revealed.",
      versioned: true,
      problems: ["duplicate", "conflict"],
    },
    deleteVariable: { summary: "Delete a variable", versioned: true, problems: ["conflict"] },
  },
  Groups: {
    listGroups: {
      summary: "List groups",
      description: "With `includeVariables=true` each group contains its variables, without the values of secrets.",
    },
    createGroup: { summary: "Create a group", versioned: true, problems: ["duplicate", "limit-reached"] },
    getGroup: { summary: "Get a group", versioned: true },
    updateGroup: { summary: "Update a group", versioned: true, problems: ["duplicate", "conflict"] },
    deleteGroup: { summary: "Delete a group and its variables", versioned: true, problems: ["in-use", "conflict"] },
  },
  Agents: {
    listAgents: { summary: "List agents" },
    readMetrics: {
      summary: "Get the metrics of the queue and the agents",
      description:
        "How many builds wait, for which agents, and for how long. JSON, or the Prometheus text format with `Accept: text/plain`.",
      text: { types: ["text/plain"] },
    },
    getAgent: { summary: "Get an agent" },
    updateAgent: {
      summary: "Update or drain an agent",
      description:
        "An agent's own token may change its name and version only. Other fields keep the values of the registration until a maintainer changes them.",
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
        "A token of kind `api` is for a person or program and has a role. A token of kind `registration` can only register agents, which may have no other labels than its `labels`.",
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
        "The token is refused from the next write, hand-out or agent call on; a read from a replica may accept it until the replica has caught up. Agents that the token registered stay. With `agents=true` they are removed, and their builds return to the queue; this request may be repeated, even when the token no longer exists.",
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
        "Raises or lowers what one organization may have: those of `limits` that are sent, where null is the default again. A lower limit than what is there takes nothing away.",
      problems: ["conflict"],
    },
    deleteOrganization: {
      summary: "Delete an organization and everything that it has",
      description:
        "With the first request its tokens and agents are refused. A minute later, when what they began has ended, each request deletes a share: repeat it until the answer is 204, or leave the rest to the service, which goes on every minute. Nothing can be restored, and the slug is never used again.",
      also: { 204: "Nothing of it is left" },
    },
    exportOrganization: {
      summary: "Export everything that an organization has",
      description:
        "Each line is JSON: the first one of the first page names the version and the nouns, each other one has a `noun` and a `record`, as the API answers it. Contains no secret value and no token. The pages lead through all nouns, or through the one that `noun` names. Logs are not included: read each at `/build/{id}/log`.",
      text: { types: ["application/jsonl"], alone: true },
    },
    reconcileRestored: {
      summary: "Reconcile the pools with the database after a restore",
      description:
        "Send it after the database, or pools, were restored to an earlier time: each pool tells the database again what it knows, or takes over what the database knows. Repeat the request with `after` of the answer until that is null. It may be interrupted and repeated.",
      problems: ["not-found"],
    },
    restorePool: {
      summary: "Set the pool of one organization back to an earlier time",
      description:
        "By the point-in-time recovery of Durable Objects, which reaches back 30 days and exists on Cloudflare only: elsewhere the answer is 409. The pool reconciles itself with the database before it hands out anything. docs/recovery.md says what is lost.",
      problems: ["not-found", "conflict"],
    },
    countSealed: {
      summary: "Count the values that are sealed with each key",
      description: "A key may be removed from the keyring once its counts are zero in two answers in a row.",
    },
    rewrap: {
      summary: "Seal one batch of values again with the current key",
      description:
        "Repeat the request until `isComplete` is true. It may be interrupted at any point. Changes at the same time take precedence.",
    },
    readServiceMetrics: {
      summary: "Get the numbers of the whole deployment",
      description:
        "For the people on call: what upkeep found in its last run, across organizations. JSON, or the Prometheus text format with `Accept: text/plain`. No pool is asked.",
      text: { types: ["text/plain"] },
    },
    listDeadLetters: {
      summary: "List what the pool of an organization could not deliver or read",
      description: "Sorted by number. Says what each is about and why it was set aside, never what it contains.",
      problems: ["not-found"],
    },
    retryDeadLetters: {
      summary: "Try dead letters again",
      description:
        "Those with these numbers, or without `seqs` the first page. What fails again becomes a dead letter again, with a new number.",
      problems: ["not-found"],
    },
  },
};
