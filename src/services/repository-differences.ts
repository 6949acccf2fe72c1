import { and, eq } from "drizzle-orm";
import { repository } from "../db/schema.ts";
import { cloneHost } from "../domain/clone-url.ts";
import { cloneUrlAt } from "../domain/githost/host-address.ts";
import type { RepositoryDifference } from "../protocol/connection.ts";
import { LIMITS } from "../protocol/limits.ts";
import { fromDeliveries } from "./connection-repositories.ts";
import type { Context } from "./core/context.ts";
import type { ConnectionRow } from "./host-access.ts";
import type { RepositoryRow } from "./repositories.ts";

/** A clone address at the host that names another repository: one of before a rename, in most cases. */
const otherAddress = ({ cloneUrl, fullName }: RepositoryRow, webUrl: string): string | null => {
  const address = cloneUrlAt(webUrl, fullName);
  const path = cloneUrl.toLowerCase().replace(/\.git$/, "");
  const isSame = ["/", ":"].some((before) => path.endsWith(before + fullName.toLowerCase()));
  if (isSame || cloneHost(cloneUrl) !== cloneHost(address)) return null;
  return `It is cloned from ${cloneUrl}, and its name at the host is ${fullName}: change the clone address if that was renamed.`;
};

const otherBranch = ({ defaultBranch }: RepositoryRow, there: string | null): string | null =>
  there === null || there === defaultBranch
    ? null
    : `Its default branch is ${there} at the host, and ${defaultBranch} here: change it here if that was renamed.`;

/** The repositories of a connection, as many as the last deliveries may tell of. */
export const connectedRepositories = async ({ db, orgId }: Context, connectionId: string): Promise<RepositoryRow[]> => {
  const isOfIt = and(eq(repository.orgId, orgId), eq(repository.connectionId, connectionId));
  const [rows] = await db.run(
    db.sql.select().from(repository).where(isOfIt).orderBy(repository.id).limit(LIMITS.deliveries),
  );
  return rows;
};

/** What the host, by the last deliveries, says otherwise of repositories than their records. It may be meant so. */
export const differencesOf = async (
  context: Context,
  row: ConnectionRow,
  connected: RepositoryRow[],
): Promise<RepositoryDifference[]> => {
  const told = await fromDeliveries(context, row);
  const branches = new Map(told.map(({ id, defaultBranch }) => [id, defaultBranch]));
  return connected.flatMap((one) =>
    [otherAddress(one, row.webUrl), otherBranch(one, branches.get(one.gitHostRepoId) ?? null)].flatMap((detail) =>
      detail === null ? [] : [{ repositoryId: one.id, fullName: one.fullName, detail }],
    ),
  );
};
