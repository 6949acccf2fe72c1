import * as z from "zod/mini";
import { queryNumber } from "./checks.ts";
import { Timestamp } from "./common.ts";

/** The attempt of a build whose log to read. The default is the latest attempt with a log. */
export const LogFilter = z.strictObject({
  attempt: z.optional(queryNumber(0, 1000)),
});

/** When a part of a log was stored. The part ends at the offset of the next one. */
export const LogTime = z.object({ offset: z.int(), at: Timestamp });

/**
 * A message to the follower of a log. The follower gets one message for each `more` that it sends, so that a slow
 * follower sets the pace. `offset` is the stored byte at which the next text of this attempt begins. `moved` means that
 * the rest is in the archive.
 */
export const FollowMessage = z.union([
  z.object({ type: z.literal("text"), attempt: z.int(), offset: z.int(), text: z.string() }),
  z.object({ type: z.literal("attempt"), attempt: z.int() }),
  z.object({ type: z.literal("end") }),
  z.object({ type: z.literal("moved") }),
]);
export type FollowMessage = z.infer<typeof FollowMessage>;

/** The message that a follower sends when it is ready for the next message. */
export const MORE = "more";

/** The id of an event, which says where to resume: `attempt:offset`, or an offset in the latest attempt. */
export const EventId = z.pipe(
  z.string().check(z.regex(/^(?:\d{1,9}:)?\d{1,15}$/, "must be an event id of the form attempt:offset")),
  z.transform((text) => {
    const [offset = "0", attempt] = text.split(":").reverse();
    return { attempt: attempt === undefined ? null : Number(attempt), offset: Number(offset) };
  }),
);
