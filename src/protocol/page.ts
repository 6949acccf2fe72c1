import * as z from "zod";
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
  .string()
  .max(100)
  .transform(decodeCursor)
  .refine((id) => Id.safeParse(id).success, "must be one that an earlier page gave");

export const encodeCursor = (id: string): string =>
  btoa(id).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** What every list takes to be read in pages. */
export const PAGE = {
  limit: QueryNumber(1, 200, "must be 1 to 200").optional(),
  cursor: Cursor.optional(),
};

export const PageQuery = z.strictObject(PAGE);
