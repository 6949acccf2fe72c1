import { ARCHIVED, type Archived, dayOf, dayOfKey, UNTIL_DAY } from "../../archive/keys.ts";
import type { Chore } from "./run.ts";

/** Objects of one page, as R2 lists and deletes them, and pages of one kind and run. */
const PAGE = 1000;
const PAGES = 20;

/** Deletes the objects whose keys begin with days before `day`, oldest first. */
const removeBefore = async (archive: R2Bucket, kind: Archived | typeof UNTIL_DAY, day: string): Promise<number> => {
  let removed = 0;
  for (let page = 0; page < PAGES; page++) {
    const { objects, truncated } = await archive.list({ prefix: `${kind}/`, limit: PAGE });
    const old = objects.map(({ key }) => key).filter((key) => (dayOfKey(key) ?? day) < day);
    if (old.length > 0) await archive.delete(old);
    removed += old.length;
    if (!truncated || old.length < objects.length) break;
  }
  return removed;
};

export const removeArchived: Chore = async ({ env, now, buildsBefore }) => {
  const day = dayOf(buildsBefore);
  const removed = await Promise.all(ARCHIVED.map((kind) => removeBefore(env.ARCHIVE, kind, day)));
  const artifacts = await removeBefore(env.ARCHIVE, UNTIL_DAY, dayOf(now));
  return { archived: removed.reduce((sum, count) => sum + count, 0), artifacts };
};
