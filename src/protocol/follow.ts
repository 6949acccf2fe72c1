import * as z from "zod/mini";

/**
 * What the follower of a log is sent over its socket, one message for each `more` it sends, so that a slow one is
 * never flooded. `offset` is where the next text of this attempt begins, in stored bytes.
 */
export const FollowMessage = z.union([
  z.object({ type: z.literal("text"), attempt: z.int(), offset: z.int(), text: z.string() }),
  z.object({ type: z.literal("attempt"), attempt: z.int() }),
  z.object({ type: z.literal("end") }),
]);
export type FollowMessage = z.infer<typeof FollowMessage>;

/** What a follower says when it is ready for one message more. */
export const MORE = "more";

/** Where a follower begins, as an event's id says it: `attempt:offset`, or an offset in the latest attempt. */
export const EventId = z.pipe(
  z.string().check(z.regex(/^(?:\d{1,9}:)?\d{1,15}$/, "must be the id of an event: attempt:offset")),
  z.transform((text) => {
    const [offset = "0", attempt] = text.split(":").reverse();
    return { attempt: attempt === undefined ? null : Number(attempt), offset: Number(offset) };
  }),
);
