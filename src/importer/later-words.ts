import { parseFile } from "../domain/plan/parse.ts";
import type { MarkKind } from "./marks.ts";
import type { StepFate } from "./names.ts";

/* What a workflow asks for by actions, and what this release does not have yet. */

interface LaterWord {
  kind: MarkKind;
  /** What later steps may take it for. */
  fate: StepFate;
}

const CACHE: LaterWord = { kind: "cache", fate: "cache" };
const ARTIFACT: LaterWord = { kind: "artifact", fate: "lost" };

/** Actions whose work becomes a key of a job in a later release: a row that is taken out here is translated there. */
export const LATER_ACTIONS: Record<string, LaterWord> = {
  "actions/cache": CACHE,
  "actions/cache/restore": CACHE,
  "actions/cache/save": CACHE,
  "swatinem/rust-cache": CACHE,
  "gradle/actions/setup-gradle": CACHE,
  "actions/upload-artifact": ARTIFACT,
  "actions/download-artifact": ARTIFACT,
};

const isKnown = (text: string): boolean => parseFile(text).mistakes === undefined;

/** Whether the language of this release has these words: what it has is written, and what not is marked. */
export const KNOWS = {
  tools: isKnown("tools: { node: '24' }\nsteps: [{ run: make }]\n"),
};
