import type { CacheEntry } from "../../protocol/cache.ts";
import { PERIODS } from "../../protocol/limits.ts";
import { getRepository } from "../../services/repositories/repositories.ts";
import { emptyCache, listCache } from "../../services/uploads/caches.ts";
import { sizeText } from "../parts/format.ts";
import { Table } from "../parts/lists.tsx";
import { confirmRemoval } from "../shell/confirm-removal.tsx";
import { hasRole, type Page, type Pages, repositoryTrail } from "../shell/page-definition.ts";
import { byId } from "../shell/verb-input.ts";

interface BranchSums {
  branch: string;
  bytes: number;
  entries: number;
  lastUsed: string;
}

/** Returns the sums for each branch, the largest sum first. */
export const byBranch = (entries: readonly CacheEntry[]): BranchSums[] => {
  const branches = new Map<string, BranchSums>();
  for (const { branch, bytes, lastUsed } of entries) {
    const sum = branches.get(branch) ?? { branch, bytes: 0, entries: 0, lastUsed };
    branches.set(branch, {
      branch,
      bytes: sum.bytes + bytes,
      entries: sum.entries + 1,
      lastUsed: sum.lastUsed > lastUsed ? sum.lastUsed : lastUsed,
    });
  }
  return [...branches.values()].sort((a, b) => b.bytes - a.bytes);
};

/** Shows a repository's cache by branch. */
const page: Page = {
  path: "/repositories/:id/cache",
  role: "viewer",
  async show(context, { params }) {
    const [repository, entries] = await Promise.all([
      getRepository.run(context, byId(params.id)),
      listCache.run(context, byId(params.id)),
    ]);
    const here = `/app/repositories/${repository.id}`;
    return {
      title: "Cache",
      section: "repositories",
      trail: repositoryTrail(repository),
      body: (
        <>
          <div class="head">
            <h1>Cache</h1>
            {hasRole(context, "member") && entries.length > 0 && (
              <a class="button danger" href={`${here}/cache/empty`}>
                Empty cache
              </a>
            )}
          </div>
          {entries.length === 0 ? (
            <p class="empty">The cache is empty.</p>
          ) : (
            <Table columns={["Branch", "Entries", "Size", "Last used"]}>
              {byBranch(entries).map((one) => (
                <tr data-row tabindex={-1}>
                  <td>
                    <bdi>{one.branch}</bdi>
                  </td>
                  <td>{String(one.entries)}</td>
                  <td>{sizeText(one.bytes)}</td>
                  <td>{one.lastUsed}</td>
                </tr>
              ))}
            </Table>
          )}
          <p class="hint">Entries that no build has used for {String(PERIODS.cacheDays)} days are deleted.</p>
        </>
      ),
    };
  },
};

const empty = confirmRemoval({
  path: "/repositories/:id/cache/empty",
  section: "repositories",
  access: emptyCache.access,
  verb: "empty",
  async question(context, id) {
    const { fullName } = await getRepository.run(context, byId(id));
    const back = `/app/repositories/${id}/cache`;
    const consequences = "The next builds start without a cache, even on agents that have a copy.";
    return { name: `the cache of ${fullName}`, consequences, back, next: back };
  },
  remove: (context, id) => emptyCache.run(context, byId(id)),
});

export const repositoryCachePages: Pages = [page, ...empty];
