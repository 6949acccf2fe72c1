import * as z from "zod/mini";
import { SUPERSEDE } from "./triggers.ts";

const Texts = z.nullable(z.array(z.string()));

const On = z.object({
  push: z.nullable(z.object({ branches: z.union([Texts, z.literal("default")]), paths: Texts })),
  tag: z.nullable(z.object({ names: Texts })),
  pull: z.nullable(z.object({ base: Texts, paths: Texts, drafts: z.boolean(), labels: Texts })),
  mergeGroup: z.boolean(),
});

/**
 * What a pipeline's file said on the default branch when it was last read: `hash` is the SHA-256 of its text in hex,
 * `number` the build that sent it (0: the pipeline's own definition), `at` the time as ISO 8601. A file that is gone
 * has the empty text's hash. `mistake` is the first one of a newer text, which was left out for it.
 */
export const FileSnapshot = z.object({
  commitSha: z.nullable(z.string()),
  hash: z.string(),
  number: z.int(),
  at: z.string(),
  on: On,
  supersede: z.enum(SUPERSEDE),
  schedule: z.array(
    z.object({ name: z.string(), cron: z.string(), timeZone: z.string(), env: z.record(z.string(), z.string()) }),
  ),
  mistake: z.nullish(z.string()),
});
export type FileSnapshot = z.infer<typeof FileSnapshot>;

/** A stored snapshot; null where there is none that can be read. */
export const readSnapshot = (stored: unknown): FileSnapshot | null => FileSnapshot.safeParse(stored).data ?? null;
