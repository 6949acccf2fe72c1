import * as z from "zod/mini";
import { Id, QueryNumber } from "./common.ts";

const decodeCursor = (text: string): string => {
  try {
    return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return "";
  }
};

/** Opaque to clients: where the page before ended. */
export const Cursor = z
  .pipe(z.string().check(z.maxLength(100)), z.transform(decodeCursor))
  .check(z.refine((id) => Id.safeParse(id).success, "must be one that an earlier page gave"));

export const encodeCursor = (id: string): string =>
  btoa(id).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** What every list takes to be read in pages. */
export const PAGE = {
  limit: z.optional(QueryNumber(1, 200, "must be 1 to 200")),
  cursor: z.optional(Cursor),
};

export const PageQuery = z.strictObject(PAGE);
