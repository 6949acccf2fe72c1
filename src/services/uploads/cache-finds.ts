import type * as z from "zod/mini";
import { bytesKey, type FoundEntry, findEntry, listEntries, touchEntry } from "../../archive/cache.ts";
import { dayOf } from "../../archive/keys.ts";
import { sha256Hex } from "../../crypto/encoding.ts";
import { shownRef } from "../../domain/cache/scopes.ts";
import { CacheQuery, FoundCache } from "../../protocol/cache.ts";
import { PathId } from "../../protocol/common.ts";
import { PERIODS } from "../../protocol/limits.ts";
import { MINUTE_MS } from "../../protocol/units.ts";
import type { Context } from "../core/context.ts";
import { reaching } from "../core/outage.ts";
import { Refusal } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";
import { readHolder } from "../jobs/jobs.ts";
import { readable } from "./artifact-records.ts";
import { type CacheScope, findScopes } from "./caches.ts";
import { readGrant } from "./uploads.ts";

const GRANT_MS = PERIODS.grantMinutes * MINUTE_MS;

interface Found {
  scope: CacheScope;
  entry: FoundEntry;
}

/** Finds entries in scopes. Reads each scope's list at most once, and only for a fallback. */
const finderIn = (archive: R2Bucket, scopes: CacheScope[], codecs: string[]) => {
  const lists = new Map<CacheScope, Promise<FoundEntry[]>>();
  const readList = (scope: CacheScope): Promise<FoundEntry[]> => {
    const list = lists.get(scope) ?? reaching(listEntries(archive, scope.path));
    lists.set(scope, list);
    return list;
  };
  const isRead = ({ codec }: FoundEntry): boolean => codecs.includes(codec);
  return async ({ key, fallback }: CacheQuery["entries"][number]): Promise<Found | null> => {
    for (const scope of scopes) {
      const entry = await reaching(findEntry(archive, `${scope.path}${await sha256Hex(key)}`));
      if (entry && isRead(entry)) return { scope, entry };
    }
    for (const beginning of fallback)
      for (const scope of scopes) {
        const begun = (await readList(scope)).filter((entry) => entry.key.startsWith(beginning));
        const [newest] = begun.filter(isRead).sort((a, b) => (a.madeAt < b.madeAt ? 1 : -1));
        if (newest) return { scope, entry: newest };
      }
    return null;
  };
};

/** Finds a job's cache entries, and grants access to them. */
export const findCache = verb({
  access: { agent: true },
  params: PathId,
  body: CacheQuery,
  output: FoundCache,
  async run(context, { params, body }) {
    const holder = await readHolder(context, params.id);
    const { orgId, archive, keys, now } = context;
    const { reads, writes } = await findScopes(context, holder);
    const find = finderIn(archive, reads, body.codecs);
    const until = now.getTime() + GRANT_MS;
    const today = dayOf(now.getTime());
    const entries: z.infer<typeof FoundCache>["entries"] = [];
    for (const request of body.entries) {
      const entry = await find(request);
      if (!entry) {
        entries.push(null);
        continue;
      }
      const { path, id, key, bytes, sha256, codec, usedDay } = entry.entry;
      if (usedDay !== today) context.waitUntil(touchEntry(archive, entry.entry, today).catch(() => {}));
      const facts = { orgId, jobId: params.id, tokenHash: holder.tokenHash, path, id, bytes, until };
      const grant = await keys.grants.grant("cache-read", facts);
      entries.push({ key, bytes, sha256, codec, scope: entry.scope.id, grant });
    }
    const scopes = reads.map(({ id, ref }) => ({ id, branch: shownRef(ref) }));
    return { scopes, saves: writes?.id ?? null, entries };
  },
});

const entryGone = () => new Refusal("gone", "The entry was deleted.");

/** Returns the bytes of a granted entry. @throws Refusal forbidden; gone */
export const openCached = async (context: Context, grant: string) => {
  const facts = await readGrant(context, "cache-read", grant);
  return readable(context.archive, bytesKey(facts.path, facts.id), facts.bytes, entryGone);
};
