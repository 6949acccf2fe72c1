import * as z from "zod/mini";
import { atMost, queryNumber, withoutNul } from "./checks.ts";
import { Description, Id, OrgId, QueryFlag, Timestamp } from "./common.ts";
import { DEFAULTS, LIMITS } from "./limits.ts";
import { PAGE } from "./page.ts";

/** The stored form of a variable of type file: the text of the file, or its bytes in base64 (RFC 4648, section 4). */
export const FileEncoding = z.enum(["text", "base64"]);
export type FileEncoding = z.infer<typeof FileEncoding>;

/** Returns the problem with the name of a file in a folder of its own; null if every agent can create the file. */
export const fileNameProblem = (name: string): string | null => {
  if (name === "" || name === "." || name === "..") return "must be the name of a file";
  if (/[/\x00-\x1f\x7f-\x9f]/.test(name)) return "must not have a slash or control characters";
  if (!name.isWellFormed()) return "must be valid Unicode";
  return new TextEncoder().encode(name).length > LIMITS.fileNameBytes
    ? `must have at most ${LIMITS.fileNameBytes} bytes`
    : null;
};

export const FileName = z.string().check((context) => {
  const problem = fileNameProblem(context.value);
  if (problem !== null) context.issues.push({ code: "custom", message: problem, input: context.value });
});

/**
 * A file of a build's environment. Its variable contains the path at which the agent wrote the file. The default `name`
 * is the variable's name.
 */
export const HandedFile = z.object({
  encoding: FileEncoding,
  text: z.string(),
  name: z.optional(z.string()),
});
export type HandedFile = z.infer<typeof HandedFile>;

export const SCOPES = ["organization", "group", "repository", "pipeline"] as const;
export const Scope = z.enum(SCOPES);
export type Scope = z.infer<typeof Scope>;

/**
 * The name of a variable as shells allow it. Letter case counts. The prefix `MILLRACE_` is reserved for the service.
 */
export const Key = z.string().check(
  z.regex(
    new RegExp(`^[A-Za-z_][A-Za-z0-9_]{0,${LIMITS.keyCharacters - 1}}$`),
    `must be letters, digits and _, not beginning with a digit, at most ${LIMITS.keyCharacters}`,
  ),
  z.refine((key) => !key.startsWith("MILLRACE_"), "must not begin with MILLRACE_"),
  z.refine((key) => key !== "__proto__", "must not be __proto__"),
);

export const Value = z.string().check(withoutNul());

export const Variable = z.object({
  id: Id,
  key: z.string(),
  value: z.optional(z.string()),
  isSecret: z.boolean(),
  isFile: z.optional(z.boolean()),
  fileEncoding: z.optional(z.nullable(FileEncoding)),
  fileName: z.optional(z.nullable(z.string())),
  scope: Scope,
  orgId: OrgId,
  repoId: z.nullable(Id),
  groupId: z.nullable(Id),
  pipelineId: z.nullable(Id),
  description: z.nullable(Description),
  isActive: z.boolean(),
  allowOverride: z.boolean(),
  version: z.int(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  lastUsedAt: z.nullable(Timestamp),
  lastUsedBy: z.nullable(Id),
  warnings: z.optional(z.array(z.enum(["short", "mask-text", "common-word", "json"]))),
});
export type Variable = z.infer<typeof Variable>;

/** One build that got a variable. */
export const VariableUse = z.object({ buildId: Id, agentId: Id, at: Timestamp });

export const NewVariable = z.strictObject({
  key: Key,
  value: Value,
  isSecret: z.boolean(),
  isFile: z.nullish(z.boolean()),
  fileEncoding: z.nullish(FileEncoding),
  fileName: z.nullish(FileName),
  scope: Scope,
  orgId: z.nullish(OrgId),
  repoId: z.nullish(Id),
  groupId: z.nullish(Id),
  pipelineId: z.nullish(Id),
  description: z.nullish(Description),
  isActive: z.nullish(z.boolean()),
  allowOverride: z.nullish(z.boolean()),
});
export type NewVariable = z.infer<typeof NewVariable>;

export const VariableChange = z.strictObject({
  key: z.optional(Key),
  value: z.optional(Value),
  isSecret: z.optional(z.boolean()),
  isFile: z.optional(z.boolean()),
  fileEncoding: z.optional(z.nullable(FileEncoding)),
  fileName: z.optional(z.nullable(FileName)),
  description: z.optional(z.nullable(Description)),
  isActive: z.optional(z.boolean()),
  allowOverride: z.optional(z.boolean()),
});

export const VariableFilter = z.strictObject({
  orgId: z.optional(OrgId),
  repoId: z.optional(Id),
  groupId: z.optional(Id),
  pipelineId: z.optional(Id),
  scope: z.optional(Scope),
  key: z.optional(z.string().check(atMost(LIMITS.keyCharacters))),
  includeInactive: z._default(QueryFlag, false),
  ...PAGE,
});

/** The filter for unused secrets. With `days`, a secret counts as unused if its last use is at least this long ago. */
export const UnusedFilter = z.strictObject({
  days: z._default(queryNumber(1, LIMITS.unusedDays), DEFAULTS.unusedDays),
  ...PAGE,
});
