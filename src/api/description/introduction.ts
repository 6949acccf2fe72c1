import { VERSION } from "../../protocol/version.ts";

export const INFO = {
  title: "Millrace",
  version: VERSION,
  summary: "Runs the builds of your repositories on your agents, and keeps their variables and secrets.",
  description: `Millrace runs builds on build agents, keeps the environment variables and secrets they need, and knows the repositories they are made of.

**Tokens.** Every request carries \`Authorization: Bearer <token>\`. A token belongs to one organization and has a role: viewer reads; member also triggers, cancels and retries builds; maintainer also writes variables, groups, repositories, pipelines and agents; admin also makes tokens and reads the audit log.

**Lists** are plain arrays and come in pages, of 100 unless \`limit\` says otherwise; the header \`Link\` has the whole address of the next one. Builds and the audit come by 50, newest first. The list of agents is whole unless \`limit\` is given.

**Changes.** PUT, which may be called PATCH as well, changes only what it is given; \`null\` clears a field that may be empty. Send the ETag you read as \`If-Match\`, and a change that somebody made in between is not lost. What is not known is refused, with the name that was probably meant.

**Problems** are answered as \`application/problem+json\` (RFC 9457). \`type\` is the address of a page that says what to do. No answer ever repeats what was sent.

**Repeating.** Every request may be sent again. For what makes a build, \`Idempotency-Key\` makes sure that it is one build.

**Limits.** 600 requests a minute for each token, 1,200 for an agent's. Bodies and chunks of logs may have 1 MiB, a variable's value 48 KiB.

**Versions.** Routes, fields, and filters are added, never changed or taken away: ignore what you do not know. An enum that is marked \`x-extensible-enum\` may grow in answers: take a value you do not know for "other". Should a breaking change ever be needed, it comes behind a header \`Millrace-Version: DATE\`, and what was before stays for six months with a \`Sunset\` header.

**Codes.** An agent's \`platform\` is 0 other, 1 macOS, 2 Linux, 3 Windows; its \`status\` 0 offline, 1 idle, 2 busy, 3 draining.`,
  contact: { name: "Whoever runs this deployment" },
  license: { name: "All rights reserved", identifier: "LicenseRef-Millrace" },
};

const bearer = (prefix: string, description: string) => ({
  ...{ type: "http", scheme: "bearer", bearerFormat: `${prefix}_...`, description },
});

export const SECURITY_SCHEMES = {
  apiToken: bearer("mrt", "A person's or program's token, with a role in one organization."),
  registrationToken: bearer("mrr", "A token that can register agents and do nothing else."),
  agentToken: bearer("mra", "One agent's own token, from its registration."),
  operatorToken: bearer("mro", "The Worker secret OPERATOR_TOKEN: whoever runs the service."),
};
