import * as z from "zod/mini";
import { beginParts, findBytes, joinParts, putPart } from "../archive/bytes.ts";
import {
  bytesKey,
  deleteEntries,
  findEntry,
  listEntries,
  putEntry,
  repositoryPath,
  type StoredEntry,
} from "../archive/cache.ts";
import { giveBack, type Reservation, reserve } from "../archive/cache-reservations.ts";
import { dayOf } from "../archive/keys.ts";
import { sha256Hex } from "../crypto/digest.ts";
import { partsOf } from "../domain/artifact/parts.ts";
import { makeRoom } from "../domain/cache/room.ts";
import { CacheEnd, CacheOpening, OpenedCache } from "../protocol/cache.ts";
import { Id, PathId } from "../protocol/common.ts";
import { LIMITS, PERIODS } from "../protocol/limits.ts";
import { checkedPart, isRefusedByArchive, type Part } from "./artifact-uploads.ts";
import { type CacheScope, scopesOf } from "./cache-scopes.ts";
import type { Context } from "./core/context.ts";
import type { GrantFacts } from "./core/grants.ts";
import { isOfOlderObject, reaching } from "./core/outage.ts";
import { grantFor, readGrant } from "./core/read-grant.ts";
import { invalid, type Outcome, Refusal, settled } from "./core/refusal.ts";
import { verb } from "./core/verb.ts";
import { holderOf } from "./jobs.ts";

const GRANT_MS = PERIODS.grantMinutes * 60_000;

type SaveFacts = GrantFacts["cache-write"];

const keyOf = ({ path, id }: SaveFacts): string => bytesKey(path, id);

const taken = () => new Refusal("conflict", "There is an entry of this key already: entries never change.");

/** Takes the key for this lease. @throws Refusal conflict where another one has it, or has just ended its save */
const takeKey = async ({ archive, now }: Context, wanted: Reservation): Promise<void> => {
  // Agents before 0.13.0 take every 409 of another kind for a lost lease.
  if (!(await reaching(reserve(archive, wanted, now.getTime()))))
    throw new Refusal("conflict", "Another job is saving this key.");
  if (!(await reaching(findEntry(archive, wanted.path)))) return;
  await reaching(giveBack(archive, wanted));
  throw taken();
};

/** What the pool answers, where it is of this release. @throws Refusal */
const onceThere = async (answer: Promise<Outcome<null>>): Promise<void> => {
  try {
    settled(await answer);
  } catch (error) {
    if (!isOfOlderObject(error)) throw error;
  }
};

/** Begins to save an entry, where there is none of its key, or continues what the caller has begun. */
export const openCache = verb({
  access: { agent: true },
  params: PathId,
  body: CacheOpening,
  output: OpenedCache,
  async run(context, { params, body }) {
    const holder = await holderOf(context, params.id);
    const { writes } = await scopesOf(context, holder);
    if (!writes) throw new Refusal("forbidden", "A build like this saves nothing to the cache.");
    const { orgId, archive, keys, headers } = context;
    const path = `${writes.path}${await sha256Hex(body.key)}`;
    if (await reaching(findEntry(archive, path))) throw taken();
    const until = context.now.getTime() + GRANT_MS;
    const parts = partsOf(body.bytes);
    const held = { jobId: params.id, tokenHash: holder.tokenHash, fence: holder.fence, path };
    const begin = async () => {
      await takeKey(context, held);
      const id = context.newId();
      const { bytes } = body;
      try {
        await onceThere(context.objects.pool(orgId).beginSaving({ ...holder, cacheId: id, bytes, parts }));
      } catch (error) {
        await reaching(giveBack(archive, held));
        throw error;
      }
      return { id, uploadId: parts > 1 ? await reaching(beginParts(archive, bytesKey(path, id))) : undefined };
    };
    // Also one that has expired is for what was begun under it.
    const before = headers.grant ? await keys.grants.read("cache-write", headers.grant) : null;
    const { id, uploadId } =
      before === null ? await begin() : grantFor("cache-write", before, { orgId, ...held, ...body });
    const facts: SaveFacts = { orgId, ...held, until, ...body, id, uploadId };
    return {
      cacheId: id,
      grant: await keys.grants.grant("cache-write", facts),
      expiresAt: new Date(until).toISOString(),
      partBytes: LIMITS.artifactPartBytes,
      parts,
    };
  },
});

/** Stores one part. Asks no pool: nobody sees it before the end, which asks. @returns its ETag */
export const storeCachePart = async (context: Context, part: Part): Promise<{ etag: string }> => {
  const facts = await readGrant(context, "cache-write", part.grant, { jobId: part.jobId, id: part.artifactId });
  const { uploadId } = facts;
  const stored = putPart(context.archive, { key: keyOf(facts), uploadId }, checkedPart(part, facts.bytes));
  const etag = await stored.catch((error: unknown) => {
    if (!isRefusedByArchive(error)) return reaching(Promise.reject(error));
    throw new Refusal("conflict", "Bytes and sums do not fit, or this save is over.");
  });
  if (etag === null) throw new Refusal("conflict", "Other bytes were sent under this grant before.");
  return { etag };
};

/** Whether the archive has what was announced. R2 has compared the SHA-256 of an only part; agents that of several. */
const isWhole = async (context: Context, facts: SaveFacts, { etags, md5 }: CacheEnd): Promise<boolean> => {
  const { uploadId, bytes, sha256 } = facts;
  if (uploadId && !(await reaching(findBytes(context.archive, keyOf(facts))))) {
    if (etags.length !== partsOf(bytes)) throw invalid("/etags", `must have ${partsOf(bytes)} entries`);
    if (md5 === undefined) throw invalid("/md5", "is missing: there are several parts");
    await joinParts(context.archive, keyOf(facts), uploadId, etags).catch((error: unknown) => {
      if (!isRefusedByArchive(error)) return reaching(Promise.reject(error));
      throw new Refusal("conflict", "A part is missing, or its ETag is not the last one that was answered for it.");
    });
    // The archive joins an upload once: who did so tells it once. Where that is lost, the upload counts for its days.
    const told = context.objects.pool(context.orgId).saved({ cacheId: facts.id, bytes });
    context.waitUntil(told.catch(() => {}));
  }
  const found = await reaching(findBytes(context.archive, keyOf(facts)));
  if (!found) throw new Refusal("conflict", "The bytes have not arrived.");
  const isAsSent = uploadId ? found.etag === `${md5}-${partsOf(bytes)}` : found.sha256 === sha256;
  return found.size === bytes && isAsSent;
};

/** Deletes what gives way to a new entry of this scope. @returns whether there is room now */
const clear = async (
  { archive, orgId }: Context,
  repoId: string,
  scope: CacheScope,
  bytes: number,
): Promise<boolean> => {
  const entries = await reaching(listEntries(archive, repositoryPath(orgId, repoId)));
  const stored = entries.map((one) => ({
    ...one,
    at: one.path,
    scope: one.path.slice(0, one.path.lastIndexOf("/") + 1),
  }));
  const gone = makeRoom(stored, { scope: scope.path, bytes, isOfDefaultBranch: scope.isOfDefaultBranch });
  if (!gone) return false;
  const paths = new Set(gone.map(({ at }) => at));
  await reaching(
    deleteEntries(
      archive,
      entries.filter(({ path }) => paths.has(path)),
    ),
  );
  return true;
};

/** Ends a save whose bytes no build will find. */
const dropSave = async ({ archive }: Context, facts: SaveFacts): Promise<void> => {
  await reaching(archive.delete(keyOf(facts)));
  await reaching(giveBack(archive, facts));
};

/** All is sent: from now on builds find the entry. Only under a lease that stands. May be repeated. */
export const finishCache = verb({
  access: { agent: true },
  params: z.object({ id: Id, cacheId: Id }),
  body: CacheEnd,
  async run(context, { params, body }) {
    const holder = await holderOf(context, params.id);
    const facts = await readGrant(context, "cache-write", context.headers.grant, {
      jobId: params.id,
      id: params.cacheId,
    });
    if (facts.fence !== holder.fence) throw new Refusal("forbidden", "The grant is of another lease.");
    const { archive } = context;
    const { repoId, writes } = await scopesOf(context, holder);
    if (!writes || !facts.path.startsWith(writes.path))
      throw new Refusal("conflict", "The cache was emptied meanwhile: this is not saved.");
    const known = await reaching(findEntry(archive, facts.path));
    if (known?.id === facts.id) return;
    if (known) throw taken();
    if (!(await isWhole(context, facts, body))) {
      await dropSave(context, facts);
      throw invalid("/etags", "are of other bytes than were announced");
    }
    if (!(await clear(context, repoId, writes, facts.bytes))) {
      await reaching(giveBack(archive, facts));
      throw new Refusal("limit-reached", "The cache of this repository is full of what this branch may not delete.");
    }
    const { key, id, bytes, sha256, codec } = facts;
    const { ref, pipelineId, isOfDefaultBranch } = writes;
    const made = { ref, pipelineId, isOfDefaultBranch, madeAt: context.at, usedDay: dayOf(context.now.getTime()) };
    const entry: StoredEntry = { key, id, bytes, sha256, codec, ...made };
    if (await reaching(putEntry(archive, facts.path, entry))) return await reaching(giveBack(archive, facts));
    await dropSave(context, facts);
    throw taken();
  },
});
