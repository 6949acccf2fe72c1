import { and, eq, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { repository } from "../../db/schema.ts";
import type * as hosts from "../../githosts/core/git-host.ts";
import { cloneUrlAt } from "../../githosts/core/host-address.ts";
import { PathId } from "../../protocol/common.ts";
import { HostRepository, HostRepositoryFilter } from "../../protocol/connection.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { encodeCursor } from "../../protocol/page.ts";
import { FullName } from "../../protocol/repository.ts";
import type { Context } from "../core/context.ts";
import { Answer, verb } from "../core/verb.ts";
import { findConnection } from "./connections.ts";
import { asking, type ConnectionRow, openClient } from "./host-access.ts";

/** A repository from the host's list, or from a delivery. */
export type ListedRepository = Omit<hosts.RepositoryAtHost, "isPrivate"> & { isPrivate: boolean | null };

/** Reports whether the host's name is also valid here, and whether git accepts it. */
export const isUsable = ({ fullName }: ListedRepository): boolean => FullName.safeParse(fullName).success;

/** Returns the repositories that deliveries named, each with its newest name. */
export const fromDeliveries = async ({ objects, orgId }: Context, row: ConnectionRow): Promise<ListedRepository[]> => {
  const byHostId = new Map<number, ListedRepository>();
  for (const { repository: delivered } of await objects.gitHost(orgId, row.id).deliveries(LIMITS.deliveries)) {
    if (!delivered || byHostId.has(delivered.hostRepoId)) continue;
    const { hostRepoId, fullName, defaultBranch } = delivered;
    byHostId.set(hostRepoId, { id: hostRepoId, fullName, defaultBranch, isPrivate: null });
  }
  return [...byHostId.values()];
};

/** Returns the connected repositories, as a map from the host's numbers to the ids of our records. */
const connectedAs = async (
  { db, orgId }: Context,
  row: ConnectionRow,
  repositories: ListedRepository[],
): Promise<Map<number, string>> => {
  const ids = JSON.stringify(repositories.map(({ id }) => id));
  const isOne = sql`${repository.gitHostRepoId} IN (SELECT value FROM json_each(${ids}))`;
  const [rows] = await db.run(
    db.sql
      .select({ id: repository.id, hostRepoId: repository.gitHostRepoId })
      .from(repository)
      .where(and(eq(repository.orgId, orgId), eq(repository.connectionId, row.id), isOne)),
  );
  return new Map(rows.map(({ id, hostRepoId }) => [hostRepoId, id]));
};

/**
 * Lists the repositories that the token lets the service see. Without a token, lists the repositories that deliveries
 * named.
 */
export const listHostRepositories = verb({
  access: { role: "maintainer" },
  params: PathId,
  query: HostRepositoryFilter,
  output: z.array(HostRepository),
  async run(context, { params, query: { limit = LIMITS.hostPageLength, cursor } }) {
    const row = await findConnection(context, params.id);
    const client = await asking(openClient(context, row));
    const page = Number(cursor ?? 1);
    const repositories: ListedRepository[] = client
      ? await asking(client.repositories(page, limit))
      : await fromDeliveries(context, row);
    const connected = await connectedAs(context, row, repositories);
    const records = repositories.filter(isUsable).map(({ id, fullName, defaultBranch, isPrivate }) => ({
      hostRepoId: id,
      fullName,
      defaultBranch,
      isPrivate,
      cloneUrl: cloneUrlAt(row.webUrl, fullName),
      repositoryId: connected.get(id) ?? null,
    }));
    const hasMore = client !== null && repositories.length >= limit;
    return new Answer(records, hasMore ? { nextCursor: encodeCursor(String(page + 1)) } : {});
  },
});
