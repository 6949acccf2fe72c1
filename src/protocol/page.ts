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

/** Opaque to clients: where the page before ended. */
const cursorOf = (ends: z.ZodMiniType<string>) =>
  z
    .pipe(z.string().check(z.maxLength(LIMITS.cursorCharacters)), z.transform(decodeCursor))
    .check(z.refine((end) => ends.safeParse(end).success, "must be one that an earlier page gave"));

export const Cursor = cursorOf(Id);

export const encodeCursor = (id: string): string =>
  btoa(id).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

const Limit = queryNumber(1, LIMITS.pageLength);

/** What a list takes to be read in pages; people's lists by 100, unless they say otherwise. */
export const PAGE = { limit: z.optional(z._default(Limit, DEFAULTS.pageLength)), cursor: z.optional(Cursor) };

/** Lists that grow for ever, newest first. */
export const NEWEST_PAGE = { ...PAGE, limit: z.optional(z._default(Limit, DEFAULTS.newestPageLength)) };

/** A list that is whole where no page is asked for. */
export const WHOLE = { ...PAGE, limit: z.optional(Limit) };

export const OrganizationFilter = z.strictObject({ ...PAGE, cursor: z.optional(cursorOf(OrgId)) });
