import * as z from "zod/mini";
import {
  bytesKey,
  deleteEntries,
  findEntry,
  giveBack,
  listEntries,
  putEntry,
  type Reservation,
  repositoryPath,
  reserve,
  type StoredEntry,
} from "../../archive/cache.ts";
import { dayOf } from "../../archive/keys.ts";
import { sha256Hex } from "../../crypto/encoding.ts";
import { countParts } from "../../domain/artifact/parts.ts";
import { entriesToDrop } from "../../domain/cache/entries-to-drop.ts";
import { CacheEnd, CacheOpening, OpenedCache } from "../../protocol/cache.ts";
import { Id, PathId } from "../../protocol/common.ts";
import type { Context } from "../core/context.ts";
import type { GrantFacts } from "../core/grants.ts";
import { reaching } from "../core/outage.ts";
import { invalid, Refusal, settled } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";
import { readHolder } from "../jobs/jobs.ts";
import { type CacheScope, findScopes } from "./caches.ts";
import { beginUpload, grantFor, Uploads } from "./uploads.ts";

type SaveFacts = GrantFacts["cache-write"];

const keyOf = ({ path, id }: Pick<SaveFacts, "path" | "id">): string => bytesKey(path, id);

export const cacheUploads = new Uploads({
  granted: "cache-write",
  keyOf,
  partRefused: () => new Refusal("conflict", "The bytes do not match their checksums, or the save has ended."),
  joinRefused: "A part is missing, or its etag is not the latest one.",
  // If this call is lost, the upload counts until its days are over.
  onJoined(context, { id, bytes }) {
    const noting = context.objects.pool(context.orgId).saved({ cacheId: id, bytes });
    context.waitUntil(noting.catch(() => {}));
  },
});

const keyTaken = () => new Refusal("conflict", "The key already has an entry: entries never change.");

/**
 * Reserves the key for this lease. @throws Refusal conflict if another lease has the key, or has just ended its save
 */
const takeKey = async ({ archive, now }: Context, reservation: Reservation): Promise<void> => {
  // Agents before 0.13.0 interpret every 409 of another kind as a lost lease.
  if (!(await reaching(reserve(archive, reservation, now.getTime()))))
    throw new Refusal("conflict", "Another job is saving this key.");
  if (!(await reaching(findEntry(archive, reservation.path)))) return;
  await reaching(giveBack(archive, reservation));
  throw keyTaken();
};

/** Begins to save an entry unless its key already has one, or continues the caller's save. */
export const openCache = verb({
  access: { agent: true },
  params: PathId,
  body: CacheOpening,
  output: OpenedCache,
  async run(context, { params, body }) {
    const holder = await readHolder(context, params.id);
    const { writes } = await findScopes(context, holder);
    if (!writes) throw new Refusal("forbidden", "This build may not save to the cache.");
    const { orgId, archive, keys, headers } = context;
    const path = `${writes.path}${await sha256Hex(body.key)}`;
    if (await reaching(findEntry(archive, path))) throw keyTaken();
    const reservation = { jobId: params.id, tokenHash: holder.tokenHash, fence: holder.fence, path };
    const begin = async () => {
      await takeKey(context, reservation);
      const id = context.newId();
      const { bytes } = body;
      try {
        const begun = { cacheId: id, bytes, parts: countParts(bytes) };
        settled(await context.objects.pool(orgId).beginSaving({ ...holder, ...begun }));
      } catch (error) {
        await reaching(giveBack(archive, reservation));
        throw error;
      }
      return { id, uploadId: await beginUpload(context, keyOf({ path, id }), bytes) };
    };
    // Even an expired grant identifies the save that began under it.
    const before = headers.grant ? await keys.grants.read("cache-write", headers.grant) : null;
    const { id, uploadId } =
      before === null ? await begin() : grantFor("cache-write", before, { orgId, ...reservation, ...body });
    const facts = { orgId, ...reservation, ...body, id, uploadId };
    return { cacheId: id, ...(await cacheUploads.grant(context, facts)) };
  },
});

/** Deletes entries in this scope to make room for a new entry. @returns whether there is enough room now */
const clear = async (
  { archive, orgId }: Context,
  repoId: string,
  scope: CacheScope,
  bytes: number,
): Promise<boolean> => {
  const entries = await reaching(listEntries(archive, repositoryPath(orgId, repoId)));
  const scoped = entries.map((one) => ({ ...one, scope: one.path.slice(0, one.path.lastIndexOf("/") + 1) }));
  const dropped = entriesToDrop(scoped, { scope: scope.path, bytes, isOfDefaultBranch: scope.isOfDefaultBranch });
  if (!dropped) return false;
  await reaching(deleteEntries(archive, dropped));
  return true;
};

/** Ends a save whose bytes no build will find. */
const dropSave = async ({ archive }: Context, facts: SaveFacts): Promise<void> => {
  await reaching(archive.delete(keyOf(facts)));
  await reaching(giveBack(archive, facts));
};

/**
 * Completes a save. From now on, builds find the entry. The call requires a valid lease, and an agent can repeat it.
 */
export const finishCache = verb({
  access: { agent: true },
  params: z.object({ id: Id, cacheId: Id }),
  body: CacheEnd,
  async run(context, { params, body }) {
    const { holder, facts } = await cacheUploads.ending(context, { jobId: params.id, id: params.cacheId });
    const { archive } = context;
    const { repoId, writes } = await findScopes(context, holder);
    if (!writes || !facts.path.startsWith(writes.path))
      throw new Refusal("conflict", "The cache was emptied in the meantime: the entry is not saved.");
    const before = await reaching(findEntry(archive, facts.path));
    if (before?.id === facts.id) return;
    if (before) throw keyTaken();
    if (!(await cacheUploads.isWhole(context, facts, { ...body, sha256: facts.sha256 }))) {
      await dropSave(context, facts);
      throw invalid("/etags", "do not match the announced bytes");
    }
    if (!(await clear(context, repoId, writes, facts.bytes))) {
      await reaching(giveBack(archive, facts));
      throw new Refusal("limit-reached", "The repository's cache is full of entries that this branch may not delete.");
    }
    const { key, id, bytes, sha256, codec } = facts;
    const { ref, pipelineId, isOfDefaultBranch } = writes;
    const origin = { ref, pipelineId, isOfDefaultBranch, madeAt: context.at, usedDay: dayOf(context.now.getTime()) };
    const entry: StoredEntry = { key, id, bytes, sha256, codec, ...origin };
    if (await reaching(putEntry(archive, facts.path, entry))) return await reaching(giveBack(archive, facts));
    await dropSave(context, facts);
    throw keyTaken();
  },
});
