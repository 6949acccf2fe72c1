import { parseFile } from "../pipeline/parse/parse.ts";
import type { MarkKind } from "./marks.ts";
import type { StepFate } from "./names.ts";

/** Keys of a job that such steps become. */
export type KeepingKey = "artifacts" | "downloads" | "cache";

export const KEEPING_ACTIONS: Record<string, KeepingKey> = {
  "actions/cache": "cache",
  "actions/cache/restore": "cache",
  "actions/cache/save": "cache",
  "actions/upload-artifact": "artifacts",
  "actions/download-artifact": "downloads",
};

export const keepingKey = (action: string): KeepingKey => KEEPING_ACTIONS[action.toLowerCase()]!;

/* What a workflow asks for by actions, of which a person has to write the equal. */

interface LaterWord {
  kind: MarkKind;
  /** What later steps may take it for. */
  fate: StepFate;
}

const CACHE: LaterWord = { kind: "cache", fate: "cache" };
/** Actions that choose by themselves what they keep: a person writes their `cache`. */
export const LATER_ACTIONS: Record<string, LaterWord> = {
  "swatinem/rust-cache": CACHE,
  "gradle/actions/setup-gradle": CACHE,
};

const isKnown = (text: string): boolean => parseFile(text).mistakes === undefined;

/** Whether the language of this release has these words: what it has is written, and what not is marked. */
export const KNOWS = {
  tools: isKnown("tools: { node: '24' }\nsteps: [{ run: make }]\n"),
};
