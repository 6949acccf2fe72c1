import type { pipeline } from "../db/schema.ts";
import { readSnapshot } from "../domain/githost/file-snapshot.ts";
import { DEFAULT_TRIGGERS, SUPERSEDE, type Triggers } from "../domain/githost/triggers.ts";
import { readWrittenOn } from "../domain/githost/written-on.ts";

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
