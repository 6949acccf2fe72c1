import * as z from "zod/mini";
import { queryNumber } from "./checks.ts";
import { Id, OrgId } from "./common.ts";
import { DEFAULTS, LIMITS } from "./limits.ts";

const decodeCursor = (text: string): string => {
  try {
    return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return "";
  }
};

/** Where the previous page ended: base64url of its last id. Opaque to clients. */
export const cursorOf = (ends: z.ZodMiniType<string>) =>
  z
    .pipe(z.string().check(z.maxLength(LIMITS.cursorCharacters)), z.transform(decodeCursor))
    .check(z.refine((end) => ends.safeParse(end).success, "must be one that an earlier page gave"));

const Cursor = cursorOf(Id);

export const encodeCursor = (id: string): string =>
  btoa(id).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

const Limit = queryNumber(1, LIMITS.pageLength);

/** Parameters of a list that is read in pages. */
export const PAGE = { limit: z.optional(z._default(Limit, DEFAULTS.pageLength)), cursor: z.optional(Cursor) };

/** The same for lists that grow for ever and begin with the newest record. */
export const NEWEST_PAGE = { ...PAGE, limit: z.optional(z._default(Limit, DEFAULTS.newestPageLength)) };

/** The same for a list that is whole unless `limit` is given. */
export const WHOLE = { ...PAGE, limit: z.optional(Limit) };

export const OrganizationFilter = z.strictObject({ ...PAGE, cursor: z.optional(cursorOf(OrgId)) });
