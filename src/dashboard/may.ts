import { includesRole, type Role } from "../protocol/token.ts";
import type { Context } from "../services/core/context.ts";

/** Whether what a role may do is to be offered to whoever is signed in. */
export const may = (context: Context, role: Role): boolean => {
  const own = context.admitted.role;
  return own !== null && includesRole(own, role);
};
