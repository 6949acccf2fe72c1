import * as z from "zod/mini";
import { deleteCacheOf, listEntries, markEmptied, repositoryPath } from "../../archive/cache.ts";
import { repository } from "../../db/schema.ts";
import { shownRef } from "../../domain/cache/scopes.ts";
import { CacheEntry } from "../../protocol/cache.ts";
import { PathId } from "../../protocol/common.ts";
import { commit } from "../core/commit.ts";
import { reaching } from "../core/outage.ts";
import { findOne } from "../core/record.ts";
import { verb } from "../core/verb.ts";

const COLUMNS = { id: repository.id, fullName: repository.fullName, version: repository.version };

/** What the builds of a repository find again, the newest first. */
export const listCache = verb({
  access: { role: "viewer" },
  params: PathId,
  output: z.array(CacheEntry),
  async run(context, { params }) {
    const row = await findOne(context, repository, COLUMNS, params.id);
    const entries = await reaching(listEntries(context.archive, repositoryPath(context.orgId, row.id)));
    const newest = entries.sort((a, b) => (a.madeAt < b.madeAt ? 1 : -1));
    return newest.map(({ key, bytes, sha256, codec, pipelineId, ref, madeAt, usedDay }) => ({
      ...{ key, bytes, sha256, codec, pipelineId },
      ...{ branch: shownRef(ref), createdAt: madeAt, lastUsed: usedDay },
    }));
  },
});

/** Empties the cache of a repository: no build finds an earlier entry any more, also not an agent's copy of it. */
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
    await reaching(deleteCacheOf(archive, folder, { keepsMark: true }));
  },
});
