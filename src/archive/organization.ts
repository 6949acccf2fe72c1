import { deleteCache } from "./cache.ts";
import { ARCHIVED, UNTIL_DAY } from "./keys.ts";

/** The maximum number of keys that R2 deletes in one call. */
const PAGE = 1000;

/** Lists the folders of all days of one kind: `record/2026-11-22/`. */
const listDays = async function* (archive: R2Bucket, kind: string): AsyncGenerator<string> {
  let cursor: string | undefined;
  do {
    const page = await archive.list({ prefix: `${kind}/`, delimiter: "/", cursor });
    yield* page.delimitedPrefixes;
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
};

/**
 * Deletes an organization's records, logs, artifacts and cache, including objects that no list contains.
 * @returns the number of deleted objects. If this is at least `limit`, some may remain.
 */
export const deleteOrganizationFrom = async (archive: R2Bucket, orgId: string, limit: number): Promise<number> => {
  let deleted = 0;
  for (const kind of [...ARCHIVED, UNTIL_DAY]) {
    for await (const day of listDays(archive, kind)) {
      for (;;) {
        const { objects } = await archive.list({ prefix: `${day}${orgId}/`, limit: PAGE });
        if (objects.length === 0) break;
        await archive.delete(objects.map(({ key }) => key));
        deleted += objects.length;
        if (deleted >= limit) return deleted;
      }
    }
  }
  return deleted + (await deleteCache(archive, `${orgId}/`, { limit: limit - deleted }));
};
