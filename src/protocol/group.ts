import * as z from "zod/mini";
import { withoutNul } from "./checks.ts";
import { Description, Id, Name, NameFilter, OrgId, QueryFlag, Timestamp } from "./common.ts";
import { PAGE } from "./page.ts";
import { Role } from "./token.ts";
import { Variable } from "./variable.ts";

const Patterns = z._default(z.nullable(z.array(z.string().check(withoutNul()))), null);

/**
 * When jobs get the variables of a protected group. The job must name the group. Its branch or tag must match a
 * pattern. If both lists are null, any ref matches; if one list is null, no ref of that kind matches. A person with at
 * least this role must approve. If the role is null, nobody needs to approve.
 */
export const GroupProtection = z.strictObject({
  branches: Patterns,
  tags: Patterns,
  approval: z._default(z.nullable(Role), null),
});
export type GroupProtection = z.infer<typeof GroupProtection>;

/** A named collection of variables that pipelines attach, in order. */
export const Group = z.object({
  id: Id,
  orgId: OrgId,
  name: Name,
  description: z.nullable(Description),
  /** The group's protection; null if the variables reach every job. */
  protection: z.nullable(GroupProtection),
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
  protection: z.nullish(GroupProtection),
});

export const GroupChange = z.strictObject({
  name: z.optional(Name),
  description: z.optional(z.nullable(Description)),
  protection: z.optional(z.nullable(GroupProtection)),
});

export const GroupFilter = z.strictObject({
  orgId: z.optional(OrgId),
  name: z.optional(NameFilter),
  includeVariables: z._default(QueryFlag, false),
  ...PAGE,
});
