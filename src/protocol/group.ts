import * as z from "zod";
import { Description, Id, Name, OrgId, QueryFlag, Timestamp } from "./common.ts";
import { PAGE } from "./page.ts";
import { Variable } from "./variable.ts";

/** A named collection of variables that pipelines attach, in order. */
export const Group = z.object({
  id: Id,
  orgId: OrgId,
  name: Name,
  description: Description.nullable(),
  variableCount: z.int(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  variables: z.array(Variable).optional().meta({ description: "With includeVariables=true" }),
});
export type Group = z.infer<typeof Group>;

export const NewGroup = z.strictObject({
  orgId: OrgId.nullish(),
  name: Name,
  description: Description.nullish(),
});

export const GroupChange = z.strictObject({
  name: Name.optional(),
  description: Description.nullable().optional(),
});

export const GroupFilter = z.strictObject({
  orgId: OrgId.optional(),
  includeVariables: QueryFlag.default(false),
  ...PAGE,
});
