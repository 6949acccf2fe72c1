import * as z from "zod/mini";
import { Description, Id, Name, NameFilter, OrgId, QueryFlag, Timestamp } from "./common.ts";
import { PAGE } from "./page.ts";
import { Role } from "./token.ts";
import { Variable } from "./variable.ts";

/**
 * When the variables of a protected group leave: with a job that names the group, on a branch or tag that a pattern
 * matches (null: on any), after a person of this role or above approved it (null: without asking).
 */
export const GroupProtection = z.strictObject({
  branches: z._default(z.nullable(z.array(z.string())), null),
  tags: z._default(z.nullable(z.array(z.string())), null),
  approval: z._default(z.nullable(Role), null),
});
export type GroupProtection = z.infer<typeof GroupProtection>;

/** A named collection of variables that pipelines attach, in order. */
export const Group = z.object({
  id: Id,
  orgId: OrgId,
  name: Name,
  description: z.nullable(Description),
  variableCount: z.int(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  variables: z.optional(z.array(Variable)),
});
export type Group = z.infer<typeof Group>;

export const NewGroup = z.strictObject({
  orgId: z.nullish(OrgId),
  name: Name,
  description: z.nullish(Description),
});

export const GroupChange = z.strictObject({
  name: z.optional(Name),
  description: z.optional(z.nullable(Description)),
});

export const GroupFilter = z.strictObject({
  orgId: z.optional(OrgId),
  name: z.optional(NameFilter),
  includeVariables: z._default(QueryFlag, false),
  ...PAGE,
});
