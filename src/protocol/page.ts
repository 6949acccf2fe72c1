import * as z from "zod/mini";
import { Id, OrgId, QueryNumber } from "./common.ts";

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
    .pipe(z.string().check(z.maxLength(100)), z.transform(decodeCursor))
    .check(z.refine((end) => ends.safeParse(end).success, "must be one that an earlier page gave"));

export const Cursor = cursorOf(Id);

export const encodeCursor = (id: string): string =>
  btoa(id).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

const Limit = QueryNumber(1, 200, "must be 1 to 200");

/** What a list takes to be read in pages; people's lists by 100, unless they say otherwise. */
export const PAGE = { limit: z.optional(z._default(Limit, 100)), cursor: z.optional(Cursor) };

/** Lists that grow for ever, newest first. */
export const NEWEST_LENGTH = 50;
export const NEWEST_PAGE = { ...PAGE, limit: z.optional(z._default(Limit, NEWEST_LENGTH)) };

/** A list that is whole where no page is asked for. */
export const WHOLE = { ...PAGE, limit: z.optional(Limit) };

export const OrganizationFilter = z.strictObject({ ...PAGE, cursor: z.optional(cursorOf(OrgId)) });
