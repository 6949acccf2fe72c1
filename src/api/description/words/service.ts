import type { Words } from "./schema-words.ts";

export const SERVICE: Words = {
  Token: {
    is: "Who may call, without the token itself.",
    fields: {
      ...{ id: "Id of the token.", orgId: "Its organization.", name: "What people call it." },
      kind: "What it is for.",
      role: "What it may do; null for kind registration. member when left out.",
      labels: "Labels that agents it registers may have at most; null for kind api.",
      expiresAt: "When it stops working; null: never.",
      lastUsedAt: "When it was last used, to the minute; null: never.",
      createdAt: "When it was made.",
    },
  },
  NewToken: {
    ...{ is: "A token to make.", like: "Token" },
    fields: { expiresAt: "When it stops working; never when left out: give registration tokens a day." },
  },
  TokenUpdate: { is: "What to change of a token. The service's own fields may be sent as they are.", like: "Token" },
  CreatedToken: {
    ...{ is: "The token's record with the token.", like: "Token" },
    fields: { token: "The token itself, shown this once." },
  },
  TokenRotation: {
    is: "How a token's secret is replaced.",
    fields: { graceSeconds: "Seconds for which the secret before stays good: 0 to 604,800, a week." },
  },
  Organization: {
    is: "A tenant of the service: nothing of one is ever seen by another.",
    fields: {
      ...{ id: "Its slug, which is in every token of it.", name: "Its name for people." },
      locationHint: "Where its agents mostly are; null: where it is first called from.",
      createdAt: "When it was made.",
    },
  },
  NewOrganization: { is: "An organization to make.", like: "Organization" },
  CreatedOrganization: {
    ...{ is: "The organization with its first token.", like: "Organization" },
    fields: { token: "Token of its first admin, shown this once." },
  },
  AuditEntry: {
    is: "One change or hand-out: who, what, when. Names of keys, never values.",
    fields: {
      ...{ id: "Id of the entry.", orgId: "The organization.", at: "When." },
      actor: "Who: token:ID, agent:ID, operator, or system.",
      action: "What: noun.verb, as variable.create or build.deliver. Others may come.",
      subject: "Id of what was changed; the action's noun says what that is. Of credential: the repository.",
      requestId: "The request that did it; null where the service did it by itself.",
      detail: "What else there is to know, different for each action. Fields may come.",
    },
  },
  Problem: {
    is: "Why a request was refused (RFC 9457).",
    fields: {
      ...{ type: "Kind of problem: the address of a page that says what to do.", title: "The kind in words." },
      ...{ status: "The answer's status.", detail: "What is the matter this time. Never what was sent." },
      requestId: "Names the request, in the service's log too.",
      errors: "Each field that is wrong.",
      "errors[].pointer": "JSON pointer to the field, or the name of a parameter or header.",
      "errors[].detail": "What is wrong with it.",
      existingId: "Of duplicate: the record that is there already.",
      expectedOffset: "Of log-gap: send from this byte on.",
    },
  },
  SealedCounts: {
    is: "What is sealed with which key.",
    fields: {
      ...{ currentKeyId: "The key that seals.", knownKeyIds: "All keys on the ring, which open." },
      byKeyId: "How much is sealed with each.",
      "byKeyId{}.variables": "Secrets.",
      "byKeyId{}.credentials": "Clone credentials.",
      "byKeyId{}.inputs": "Values of runs.",
      "byKeyId{}.logs": "Open logs, with what they mask.",
      isComplete: "Everything is sealed with the current key.",
    },
  },
  Rewrap: { is: "How much to seal again.", fields: { limit: "At most so many in this batch: 1 to 500." } },
  Rewrapped: {
    ...{ is: "What one batch did.", like: "SealedCounts" },
    fields: {
      rewrapped: "How many were sealed again.",
      unopenable: "Ids of what no known key opens; it is left as it is.",
    },
  },
};
