import { includesRole, type Role } from "../../protocol/token.ts";
import type { Context } from "../../services/core/context.ts";

/** Whether the signed-in person has this role or a higher one. Pages offer only what a person may do. */
export const hasRole = (context: Context, role: Role): boolean => {
  const own = context.admitted.role;
  return own !== null && includesRole(own, role);
};
