import * as z from "zod/mini";
import { mistakeSentence } from "../../pipeline/mistake.ts";
import { parseTriggers } from "../../pipeline/triggers/stored-triggers.ts";
import { DEFAULT_TRIGGERS, SUPERSEDE } from "../../pipeline/triggers/triggers.ts";

const Texts = z.nullable(z.array(z.string()));

const On = z.object({
  push: z.nullable(z.object({ branches: z.union([Texts, z.literal("default")]), paths: Texts })),
  tag: z.nullable(z.object({ names: Texts })),
  pull: z.nullable(z.object({ base: Texts, paths: Texts, drafts: z.boolean(), labels: Texts })),
  mergeGroup: z.boolean(),
});

/** The content of a pipeline's file on the default branch when the service last read it. */
export const FileSnapshot = z.object({
  /** The SHA-256 of the last text read, in hex. */
  hash: z.string(),
  /** The number of the build that sent the text; 0 for a definition in the pipeline's record. */
  number: z.int(),
  /** The commit of the text in effect; null without a text, and for a definition. */
  commitSha: z.nullable(z.string()),
  /** When the service read that text, as ISO 8601. */
  at: z.nullable(z.string()),
  /** Whether the other fields come from a text, or from the defaults. */
  isRead: z._default(z.boolean(), true),
  on: On,
  supersede: z.enum(SUPERSEDE),
  schedule: z.array(
    z.object({ name: z.string(), cron: z.string(), timeZone: z.string(), env: z.record(z.string(), z.string()) }),
  ),
  /** The first mistake of a newer text. The service ignores that text because of it. */
  mistake: z._default(z.nullable(z.string()), null),
});
export type FileSnapshot = z.infer<typeof FileSnapshot>;

/** Reads a stored snapshot; null if there is no readable one. */
export const readSnapshot = (json: unknown): FileSnapshot | null => FileSnapshot.safeParse(json).data ?? null;

/** The text of a file, and its source. The text is empty if the commit has no file. */
type TextRead = Pick<FileSnapshot, "hash" | "number" | "commitSha"> & { text: string; at: string };

const NOTHING_READ = { commitSha: null, at: null, isRead: false, ...DEFAULT_TRIGGERS };

/** Returns the snapshot after reading a text. A text with mistakes does not change the pipeline's triggers. */
export const snapshotAfter = (before: FileSnapshot | null, read: TextRead): FileSnapshot => {
  const { text, at, ...facts } = read;
  if (text === "") return { ...NOTHING_READ, hash: facts.hash, number: facts.number, at, mistake: null };
  const { value, mistakes } = parseTriggers(text);
  if (value) return { ...facts, at, isRead: true, ...value, mistake: null };
  const [{ line, column, ...rest } = { line: 1, column: 1, message: "" }] = mistakes;
  const mistake = `${line}:${column}: ${mistakeSentence({ line, column, ...rest })}`;
  return { ...(before ?? NOTHING_READ), hash: facts.hash, number: facts.number, mistake };
};
