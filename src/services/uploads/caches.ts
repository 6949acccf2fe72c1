import { eq } from "drizzle-orm";
import * as z from "zod/mini";
import { deleteCache, emptiedAt, listEntries, markEmptied, repositoryPath, scopePath } from "../../archive/cache.ts";
import { sha256Hex } from "../../crypto/encoding.ts";
import { repository } from "../../db/schema.ts";
import { cacheRefs, shownRef } from "../../domain/cache/scopes.ts";
import { refOf } from "../../domain/git-ref.ts";
import { CacheEntry } from "../../protocol/cache.ts";
import { PathId } from "../../protocol/common.ts";
import { commit } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { reaching } from "../core/outage.ts";
import { findOne } from "../core/record.ts";
import { settled } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";
import type { Holder } from "../jobs/jobs.ts";

/** The entries of one branch in one pipeline. */
export interface CacheScope {
  /** The scope's id. Agents key their local copies of entries by it. */
  id: string;
  ref: string;
  pipelineId: string;
  /** The folder that has the scope's entries. */
  path: string;
  isOfDefaultBranch: boolean;
}

interface CacheScopes {
  repoId: string;
  reads: CacheScope[];
  writes: CacheScope | null;
}

/**
 * Returns the cache scopes for the agent's job, from the service's facts about the build. @throws Refusal lease-lost
 */
export const findScopes = async (context: Context, holder: Holder): Promise<CacheScopes> => {
  const { orgId, archive } = context;
  const facts = settled(await context.objects.pool(orgId).cacheFacts(holder));
  const { repoId, pipelineId } = facts;
  const query = context.db.sql
    .select({ defaultBranch: repository.defaultBranch })
    .from(repository)
    .where(eq(repository.id, repoId));
  const [[row]] = await context.db.run(query);
  if (!row || pipelineId === null) return { repoId, reads: [], writes: null };
  const { reads, writes } = cacheRefs(facts, row.defaultBranch);
  const emptied = await reaching(emptiedAt(archive, orgId, repoId));
  const scopes = reads.map(async (ref): Promise<CacheScope> => {
    const id = await sha256Hex(JSON.stringify([orgId, repoId, pipelineId, emptied, ref]));
    const isOfDefaultBranch = ref === refOf(row.defaultBranch);
    return { id, ref, pipelineId, path: scopePath(orgId, repoId, pipelineId, id), isOfDefaultBranch };
  });
  const cacheScopes = await Promise.all(scopes);
  return { repoId, reads: cacheScopes, writes: cacheScopes.find(({ ref }) => ref === writes) ?? null };
};

const COLUMNS = { id: repository.id, fullName: repository.fullName, version: repository.version };

/** Lists the entries that a repository's builds find, the newest first. */
export const listCache = verb({
  access: { role: "viewer" },
  params: PathId,
  output: z.array(CacheEntry),
  async run(context, { params }) {
    const row = await findOne(context, repository, COLUMNS, params.id);
    const entries = await reaching(listEntries(context.archive, repositoryPath(context.orgId, row.id)));
    const newest = entries.sort((a, b) => (a.madeAt < b.madeAt ? 1 : -1));
    return newest.map(({ key, bytes, sha256, codec, pipelineId, ref, madeAt, usedDay }) => ({
      key,
      bytes,
      sha256,
      codec,
      pipelineId,
      branch: shownRef(ref),
      createdAt: madeAt,
      lastUsed: usedDay,
    }));
  },
});

/** Empties a repository's cache. Builds no longer find earlier entries, not even in an agent's copies. */
export const emptyCache = verb({
  access: { role: "member" },
  params: PathId,
  async run(context, { params }) {
    await context.admit();
    const { id, fullName } = await findOne(context, repository, COLUMNS, params.id);
    const { archive, orgId } = context;
    await reaching(markEmptied(archive, orgId, id, context.at));
    const folder = repositoryPath(orgId, id);
    const entries = await reaching(listEntries(archive, folder));
    const bytes = entries.reduce((sum, one) => sum + one.bytes, 0);
    await commit(context, { action: "cache.delete", subject: id, detail: { fullName, bytes } }, []);
    await reaching(deleteCache(archive, folder, { keepsMark: true }));
  },
});
