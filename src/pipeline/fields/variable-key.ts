import { LIMITS } from "../../protocol/limits.ts";

/** What a variable that a file sets may be called. */
export const KEY = {
  pattern: new RegExp(`^(?!MILLRACE_|__proto__$)[A-Za-z_][A-Za-z0-9_]{0,${LIMITS.keyCharacters - 1}}$`),
  message: "The name of a variable must be letters, digits and _, and must not begin with a digit or MILLRACE_",
};
