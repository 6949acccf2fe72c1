import { byteSize, DEFAULTS, LIMITS } from "../../protocol/limits.ts";
import { VERSION } from "../../protocol/version.ts";

export const INFO = {
  title: "Millrace",
  version: VERSION,
  summary: "Runs the builds of your repositories on your own agents, and manages their variables and secrets.",
  description: `Millrace runs builds on build agents. It stores the environment variables and secrets that builds need, and the repositories and pipelines that they belong to.

**Tokens.** Every request carries \`Authorization: Bearer <token>\`. A token belongs to one organization and has a role. A viewer reads; a member also triggers, cancels and retries builds; a maintainer also changes variables, groups, repositories, pipelines and agents; an admin also manages tokens and reads the audit log.

**Lists** are plain arrays in pages of ${DEFAULTS.pageLength} records, or as many as \`limit\` says. The header \`Link\` has the URL of the next page. Builds and the audit log come in pages of ${DEFAULTS.newestPageLength}, newest first. The list of agents is complete unless \`limit\` is given.

**Changes.** PUT changes the fields that you send and leaves the others; PATCH does the same. \`null\` clears a field that may be empty. Send the ETag that you read as \`If-Match\`, and the request is refused if the record has changed since. Unknown fields are refused, with a suggestion where one is close.

**Problems** are \`application/problem+json\` (RFC 9457). \`type\` is the address of a page that explains the problem and its remedy. No answer repeats what was sent.

**Repeating.** Every request may be sent again. Send an \`Idempotency-Key\` with a request that creates a build, and repeats of it return the same build.

**Limits.** The header \`RateLimit-Policy\` says how many requests a minute a token may send, and its organization. Bodies may have ${byteSize(LIMITS.bodyBytes)}, chunks of logs ${byteSize(LIMITS.logChunkBytes)}, values of variables ${byteSize(LIMITS.valueBytes)}.

**Versions.** Routes, fields and filters are added, but never changed or removed: ignore the fields that you do not know. An enum that is marked \`x-extensible-enum\` may get new values in answers: treat an unknown value as "other". If a breaking change is ever needed, a client asks for it with the header \`Millrace-Version: DATE\`; the old behavior stays for six months, with a \`Sunset\` header.

**Codes.** An agent's \`platform\` is 0 other, 1 macOS, 2 Linux, 3 Windows; its \`status\` is 0 offline, 1 idle, 2 busy, 3 draining.`,
  contact: { name: "The operator of this deployment" },
  license: { name: "All rights reserved", identifier: "LicenseRef-Millrace" },
};

const bearer = (prefix: string, description: string) => ({
  type: "http",
  scheme: "bearer",
  bearerFormat: `${prefix}_...`,
  description,
});

export const SECURITY_SCHEMES = {
  apiToken: bearer("mrt", "The token of a person or program, with a role in one organization."),
  registrationToken: bearer("mrr", "A token that can only register agents."),
  agentToken: bearer("mra", "The token of one agent, from its registration."),
  operatorToken: bearer("mro", "The token of the operator of the service: the Worker secret OPERATOR_TOKEN."),
};
