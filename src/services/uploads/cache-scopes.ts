import { eq } from "drizzle-orm";
import { emptiedAt, scopePath } from "../../archive/cache.ts";
import { sha256Hex } from "../../crypto/digest.ts";
import { repository } from "../../db/schema.ts";
import { cacheRefs } from "../../domain/cache/scopes.ts";
import { refOf } from "../../domain/git-ref.ts";
import type { Context } from "../core/context.ts";
import { reaching } from "../core/outage.ts";
import { settled } from "../core/refusal.ts";
import type { Holder } from "../jobs/jobs.ts";

/** The entries of one branch in one pipeline. */
export interface CacheScope {
  /** Names it to agents, which keep copies of entries by it. */
  id: string;
  ref: string;
  pipelineId: string;
  /** The folder of its entries. */
  path: string;
  isOfDefaultBranch: boolean;
}

interface CacheScopes {
  repoId: string;
  reads: CacheScope[];
  writes: CacheScope | null;
}

/** The scopes of what the agent holds, from what the service knows of the build. @throws Refusal lease-lost */
export const scopesOf = async (context: Context, holder: Holder): Promise<CacheScopes> => {
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
  const found = await Promise.all(scopes);
  return { repoId, reads: found, writes: found.find(({ ref }) => ref === writes) ?? null };
};
