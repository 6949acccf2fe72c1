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

/** The end of the previous page, as base64url of its last id. Clients cannot interpret it. */
export const cursorSchema = (ends: z.ZodMiniType<string>) =>
  z
    .pipe(z.string().check(z.maxLength(LIMITS.cursorCharacters)), z.transform(decodeCursor))
    .check(z.refine((end) => ends.safeParse(end).success, "must be a cursor from an earlier page"));

const Cursor = cursorSchema(Id);

export const encodeCursor = (id: string): string =>
  btoa(id).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

const Limit = queryNumber(1, LIMITS.pageLength);

/** Parameters of a paginated list. */
export const PAGE = { limit: z.optional(z._default(Limit, DEFAULTS.pageLength)), cursor: z.optional(Cursor) };

/** The parameters of `PAGE`, for lists that grow without limit and begin with the newest record. */
export const NEWEST_PAGE = { ...PAGE, limit: z.optional(z._default(Limit, DEFAULTS.newestPageLength)) };

/** The suffix of a build list's cursor if all later builds have ended. Those builds stay as D1 has them. */
const ALL_ENDED = ".ended";

const idBefore = (cursor: string): string => (cursor.endsWith(ALL_ENDED) ? cursor.slice(0, -ALL_ENDED.length) : cursor);

const BuildsCursor = z.pipe(
  cursorSchema(z.string().check(z.refine((cursor) => Id.safeParse(idBefore(cursor)).success))),
  z.transform((cursor) => ({ id: idBefore(cursor), isPastLive: cursor.endsWith(ALL_ENDED) })),
);

export const encodeBuildsCursor = (id: string, isPastLive: boolean): string =>
  encodeCursor(isPastLive ? id + ALL_ENDED : id);

/** The parameters of `NEWEST_PAGE`, for lists of builds. */
export const BUILDS_PAGE = { ...NEWEST_PAGE, cursor: z.optional(BuildsCursor) };

/** The parameters of `PAGE`, for a list that is complete unless `limit` is given. */
export const WHOLE = { ...PAGE, limit: z.optional(Limit) };

export const OrganizationFilter = z.strictObject({ ...PAGE, cursor: z.optional(cursorSchema(OrgId)) });

/** Dead letters of one organization, in the order of their numbers. */
export const DeadLetterFilter = z.strictObject({
  ...PAGE,
  orgId: OrgId,
  cursor: z.optional(cursorSchema(z.string().check(z.regex(/^[0-9]{1,15}$/)))),
});
