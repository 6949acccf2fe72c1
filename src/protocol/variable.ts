import * as z from "zod";
import { Description, Id, OrgId, QueryFlag, Timestamp } from "./common.ts";
import { PAGE } from "./page.ts";

export const SCOPES = ["organization", "group", "repository", "pipeline"] as const;
export const Scope = z.enum(SCOPES);
export type Scope = z.infer<typeof Scope>;

/** The name of a variable: a shell name, exact case; `MILLRACE_` is the service's own prefix. */
export const Key = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,254}$/, "must be letters, digits and _, not beginning with a digit, at most 255")
  .refine((key) => !key.startsWith("MILLRACE_"), "must not begin with MILLRACE_")
  .refine((key) => key !== "__proto__", "must not be __proto__");

/** Bytes of UTF-8 that one value may have. */
export const VALUE_LIMIT = 48 * 1024;

export const Value = z.string().refine((text) => !text.includes("\0"), "must not have a NUL character");

export const Variable = z.object({
  id: Id,
  key: z.string(),
  value: z.string().optional().meta({ description: "Absent when isSecret" }),
  isSecret: z.boolean(),
  scope: Scope,
  orgId: OrgId,
  repoId: Id.nullable(),
  groupId: Id.nullable(),
  pipelineId: Id.nullable(),
  description: Description.nullable(),
  isActive: z.boolean(),
  allowOverride: z.boolean(),
  version: z.int(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  lastUsedAt: Timestamp.nullable(),
  lastUsedBy: Id.nullable().meta({ description: "The last build that was given it" }),
  warnings: z.array(z.enum(["short", "mask-text", "common-word"])).optional(),
});
export type Variable = z.infer<typeof Variable>;

/** One hand-out of a variable. */
export const VariableUse = z.object({ buildId: Id, agentId: Id, at: Timestamp });

export const NewVariable = z.strictObject({
  key: Key,
  value: Value,
  isSecret: z.boolean(),
  scope: Scope,
  orgId: OrgId.nullish(),
  repoId: Id.nullish(),
  groupId: Id.nullish(),
  pipelineId: Id.nullish(),
  description: Description.nullish(),
  isActive: z.boolean().nullish(),
  allowOverride: z.boolean().nullish(),
});
export type NewVariable = z.infer<typeof NewVariable>;

export const VariableChange = z.strictObject({
  key: Key.optional(),
  value: Value.optional(),
  isSecret: z.boolean().optional(),
  description: Description.nullable().optional(),
  isActive: z.boolean().optional(),
  allowOverride: z.boolean().optional(),
});

export const VariableFilter = z.strictObject({
  orgId: OrgId.optional(),
  repoId: Id.optional(),
  groupId: Id.optional(),
  pipelineId: Id.optional(),
  scope: Scope.optional(),
  includeInactive: QueryFlag.default(false),
  ...PAGE,
});
