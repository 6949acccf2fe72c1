import * as z from "zod/mini";
import type { On } from "./triggers.ts";

const Patterns = z.optional(z.array(z.string()));
const event = <Shape extends z.core.$ZodShape>(shape: Shape) =>
  z.optional(z.union([z.literal(true), z.strictObject(shape)]));

/** `on` as people write it, in a file or in a pipeline's record. Whether its patterns are any is not looked at. */
export const WrittenOn = z.strictObject({
  push: event({ branches: Patterns, paths: Patterns }),
  tag: event({ names: Patterns }),
  pull: event({ base: Patterns, paths: Patterns, drafts: z.optional(z.boolean()), labels: Patterns }),
  "merge-group": z.optional(z.literal(true)),
});
export type WrittenOn = z.infer<typeof WrittenOn>;

/** The conditions of an event: none for `true`, null when the event is left out. */
const conditionsOf = <Conditions extends object>(event: true | Conditions | undefined): Partial<Conditions> | null =>
  event === true ? {} : (event ?? null);

/** What `on` means. An event that is left out is not wanted. */
export const onOf = (written: WrittenOn): On => {
  const [push, tag, pull] = [conditionsOf(written.push), conditionsOf(written.tag), conditionsOf(written.pull)];
  return {
    push: push && { branches: push.branches ?? null, paths: push.paths ?? null },
    tag: tag && { names: tag.names ?? null },
    pull: pull && {
      base: pull.base ?? null,
      paths: pull.paths ?? null,
      drafts: pull.drafts ?? true,
      labels: pull.labels ?? null,
    },
    mergeGroup: written["merge-group"] === true,
  };
};

/** What a stored override means; null where it is none that can be read. */
export const readWrittenOn = (stored: unknown): On | null => {
  const { data } = WrittenOn.safeParse(stored);
  return data ? onOf(data) : null;
};
