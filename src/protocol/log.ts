import * as z from "zod/mini";
import { queryNumber } from "./checks.ts";
import { Timestamp } from "./common.ts";

/** Which attempt of a build is read; without it the latest one that has a log. */
export const LogFilter = z.strictObject({
  attempt: z.optional(queryNumber(0, 1000)),
});

/** When a part of a log was stored: it holds from its offset to the next one's. */
export const LogTime = z.object({ offset: z.int(), at: Timestamp });
