import type { pipeline } from "../../db/schema.ts";
import { readSnapshot } from "../../githosts/core/file-snapshot.ts";
import { triggerWords } from "../../pipeline/triggers/trigger-words.ts";
import { DEFAULT_TRIGGERS, SUPERSEDE, type Triggers } from "../../pipeline/triggers/triggers.ts";
import { readWrittenOn } from "../../pipeline/triggers/written-on.ts";
import type { PipelineTriggers } from "../../protocol/pipeline.ts";

type Stored = Pick<typeof pipeline.$inferSelect, "on" | "supersede" | "fileSnapshot">;

/**
 * What starts and ends a pipeline's builds: what its record says, else its file on the default branch, else the
 * defaults. Nothing that is stored makes it throw: what cannot be read counts as not said.
 */
export const triggersOf = ({ on, supersede, fileSnapshot }: Stored): Triggers => {
  const file: Triggers = readSnapshot(fileSnapshot) ?? DEFAULT_TRIGGERS;
  return {
    on: (on && readWrittenOn(on)) ?? file.on,
    supersede: SUPERSEDE.find((one) => one === supersede) ?? file.supersede,
    schedule: file.schedule,
  };
};

/** The same as the pipeline's record shows it, and where it comes from. */
export const shownTriggers = (row: Stored): PipelineTriggers => {
  const { on, supersede } = triggersOf(row);
  const snapshot = readSnapshot(row.fileSnapshot);
  return {
    source: row.on && readWrittenOn(row.on) ? "record" : snapshot?.isRead ? "file" : "default",
    builds: triggerWords(on),
    supersede,
    commitSha: snapshot?.commitSha ?? null,
    readAt: snapshot?.at ?? null,
    mistake: snapshot?.mistake ?? null,
  };
};
