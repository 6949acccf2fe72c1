import type { ScheduledValues } from "../db/schema.ts";
import { scheduleContext } from "../domain/seal-context.ts";
import type { Keys } from "./core/keys.ts";

/** The schedule that values belong to. */
interface Owner {
  orgId: string;
  pipelineId: string;
  id: string;
}

/** Seals the variables of a schedule's runs; null where there are none. @throws Refusal keyring-unavailable */
export const sealScheduled = async (
  keys: Keys,
  owner: Owner,
  values: Record<string, string>,
): Promise<ScheduledValues | null> => {
  const names = Object.keys(values);
  if (names.length === 0) return null;
  return { keys: names, sealed: await keys.seal(JSON.stringify(values), scheduleContext(owner)) };
};

/** @throws Damaged; Refusal keyring-unavailable */
export const openScheduled = async (
  keys: Keys,
  owner: Owner,
  stored: ScheduledValues | null,
): Promise<Record<string, string>> =>
  stored === null ? {} : JSON.parse(await keys.open(stored.sealed, scheduleContext(owner)));
