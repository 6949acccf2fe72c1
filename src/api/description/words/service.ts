import { LIMITS, withCommas } from "../../../protocol/limits.ts";
import type { Words } from "./schema-words.ts";

export const SERVICE: Words = {
  Token: {
    is: "The record of a token, without the token itself.",
    fields: {
      id: "Id of the token.",
      orgId: "Id of the organization.",
      name: "Name of the token, for people.",
      kind: "The purpose of the token.",
      role: "What the token may do; null for kind registration. Default: member.",
      labels: "The labels that agents registered with this token may have; null for kind api.",
      expiresAt: "When the token expires; null if it does not expire.",
      lastUsedAt: "When the token was last used, to the minute; null if it never was.",
      createdAt: "Time of creation.",
    },
  },
  NewToken: {
    is: "A token to create.",
    like: "Token",
    fields: {
      expiresAt:
        "When the token expires. Left out: it does not expire. Give a registration token a short life, such as a day.",
    },
  },
  TokenUpdate: {
    is: "A change of a token. Fields that the service manages may be included if they are unchanged.",
    like: "Token",
  },
  CreatedToken: {
    is: "The record of the new token, and the token itself.",
    like: "Token",
    fields: { token: "The token itself. No later answer contains it." },
  },
  TokenRotation: {
    is: "How to replace the secret of a token.",
    fields: {
      graceSeconds: `Seconds for which the old secret stays valid: 0 to ${withCommas(LIMITS.graceSeconds)}, a week.`,
    },
  },
  Organization: {
    is: "A tenant of the service. Organizations cannot see each other's records.",
    fields: {
      id: "Slug of the organization. Each of its tokens contains it.",
      name: "Name of the organization, for people.",
      locationHint: "Where most of its agents are; null: the place of the first request.",
      createdAt: "Time of creation.",
      deletingAt: "Since when it is being deleted; null if it is not.",
      limits: "What it may have. The operator raises and lowers them.",
    },
  },
  OrganizationLimits: {
    is: "What one organization may have. Beyond a limit the answer is 429.",
    fields: {
      buildsPerDay: "New builds of one day, UTC.",
      requestsPerMinute:
        "Requests of all its tokens in a minute; as many of all its hooks, and twice as many of all its agents.",
      storedBytes: "Bytes of artifacts and caches that it may have in the archive.",
      tokens: "Tokens, expired ones included.",
      connections: "Connections to git hosts.",
      repositories: "Repositories.",
      pipelines: "Pipelines.",
      groups: "Groups of variables.",
    },
  },
  LimitsChange: { is: "Limits to set. null: the default.", like: "OrganizationLimits" },
  OrganizationUpdate: {
    is: "A change of an organization. Fields that the service manages may be included if they are unchanged.",
    like: "Organization",
  },
  OrganizationRemoval: {
    is: "What the deletion of an organization is at.",
    like: "Organization",
    fields: {
      deletingAt: "When the deletion began.",
      step: "What is deleted now, in this order: closing (nothing yet: earlier requests still end), builds with their logs, archive, rows.",
      removed: "How much this request deleted: logs, objects of the archive or rows.",
    },
  },
  NewOrganization: { is: "An organization to create.", like: "Organization" },
  CreatedOrganization: {
    is: "The new organization and its first token.",
    like: "Organization",
    fields: { token: "The token of its first admin. No later answer contains it." },
  },
  AuditEntry: {
    is: "One change, or one build that was handed out. Contains the names of keys, never values.",
    fields: {
      id: "Id of the entry.",
      orgId: "Id of the organization.",
      at: "Time of the action.",
      actor: "Who did it: token:ID, agent:ID, operator or system.",
      action: "What was done: noun.verb, such as variable.create or build.deliver. New actions may be added.",
      subject: "Id of the record; the noun of the action names its kind. For a credential: id of the repository.",
      requestId: "Id of the request; null where the service acted by itself.",
      detail: "Further facts, different for each action. New fields may be added.",
    },
  },
  HostDelivery: {
    is: "A delivery of a git host, and what came of it.",
    fields: {
      id: "The host's own id of the delivery; ID~MILLISECONDS where a person took it once more.",
      at: "When it came.",
      event: "The event in the host's words.",
      repository:
        "The repository as the host tells of it: its id there, its name at that time and its default branch; null where the delivery names none.",
      ref: "The whole name of the ref; null where the delivery tells of none.",
      sha: "The commit; null where the delivery tells of none.",
      builds: "Ids of the builds that it made, or that were there already.",
      ignored:
        "Why it made no build, or that it waits until the service can take it, in words; null where it made one.",
      mayRedeliver: "Whether it can be taken once more; false: it was too large to keep.",
    },
  },
  DeliveryTaken: {
    is: "What came of a delivery.",
    like: "HostDelivery",
    fields: { delivery: "Id of the delivery." },
  },
  Problem: {
    is: "Why a request was refused (RFC 9457).",
    fields: {
      type: "Kind of problem: the address of a page that explains it.",
      title: "Title of the kind.",
      status: "HTTP status of the answer.",
      detail: "The reason in this case. It never repeats what was sent.",
      requestId: "Id of the request, also in the service's log.",
      errors: "Each wrong field.",
      "errors[].pointer": "JSON pointer to the field, or the name of a parameter or header.",
      "errors[].detail": "Why the value is wrong.",
      existingId: "For duplicate: id of the existing record.",
      expectedOffset: "For log-gap: the byte from which to send the log again.",
    },
  },
  SealedCounts: {
    is: "How many values are sealed with each key.",
    fields: {
      currentKeyId: "Id of the key that seals new values.",
      knownKeyIds: "Ids of all keys of the keyring. Each of them can open values.",
      byKeyId: "Counts for each key.",
      "byKeyId{}.variables": "Number of secrets.",
      "byKeyId{}.credentials": "Number of clone credentials.",
      "byKeyId{}.connections": "Number of tokens of git hosts.",
      "byKeyId{}.inputs": "Number of builds with envVariables.",
      "byKeyId{}.logs": "Number of open logs, with the values that they mask.",
      isComplete: "true: every value is sealed with the current key. Never true where `after` was sent or is not null.",
      after:
        "Inputs and logs were counted up to this organization. Counting: send it as `after` of the next request, and add up. Sealing: the next request goes on there by itself. null: there is none behind.",
    },
  },
  Rewrap: {
    is: "The size of a batch to seal again.",
    fields: { limit: `Maximum number of values in this batch: 1 to ${LIMITS.rewrapBatch}.` },
  },
  Rewrapped: {
    is: "The result of one batch.",
    like: "SealedCounts",
    fields: {
      rewrapped: "Number of values that were sealed again.",
      unopenable: "Ids of values that no known key opens. They are left unchanged.",
    },
  },
  Restore: {
    is: "What was restored to an earlier time.",
    fields: {
      what: "database: D1. pools: the agents and active builds of organizations.",
      orgId: "Reconciles this organization only. Default: all.",
      after: "Goes on after this organization: `after` of the answer before.",
      limit: `Maximum number of organizations in this batch: 1 to ${LIMITS.restoreBatch}.`,
    },
  },
  Restored: {
    is: "What one batch did.",
    fields: {
      organizations: "Number of organizations that are reconciled.",
      ended: "Number of builds that had ended already, by the database.",
      lost: "Number of builds that have failed because nothing but their row in the database was left.",
      told: "Number of builds of which the database is told again.",
      agentsRemoved: "Number of agents that were removed again.",
      failed: "Organizations whose pool did not answer: repeat the request.",
      after: "Send it as `after` of the next request; null: that was the last batch.",
    },
  },
  PoolRestore: {
    is: "The time to which a pool is set back.",
    fields: { orgId: "Slug of the organization.", at: "A time of the last 30 days." },
  },
  PoolRestored: {
    is: "The pool is set back at its next call.",
    fields: { orgId: "Slug of the organization.", undo: "Bookmark of the state before." },
  },
};
