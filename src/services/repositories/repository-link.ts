import { and, eq, or } from "drizzle-orm";
import type * as z from "zod/mini";
import { repository } from "../../db/schema.ts";
import { canonicalCloneUrl } from "../../domain/clone-url.ts";
import { branchProblem } from "../../domain/git-ref.ts";
import type { HostReader } from "../../githosts/core/git-host.ts";
import { cloneUrlAt } from "../../githosts/core/host-address.ts";
import { PathId } from "../../protocol/common.ts";
import { LinkedRepository } from "../../protocol/connection.ts";
import { Repository } from "../../protocol/repository.ts";
import { registerHook, removeHooks } from "../connections/connection-hooks.ts";
import { fromDeliveries, isUsable, type ListedRepository } from "../connections/connection-repositories.ts";
import { findConnection } from "../connections/connections.ts";
import {
  asking,
  type ConnectionRow,
  openClient,
  openHookClient,
  readHookSettings,
} from "../connections/host-access.ts";
import { commit } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { nextVersion, updateRow } from "../core/record.ts";
import { invalid, Refusal } from "../core/refusal.ts";
import { verb, versioned } from "../core/verb.ts";
import {
  COLUMNS,
  ensureConnection,
  type FoundRepository,
  insertRepository,
  newRepositoryRow,
  type RepositoryColumns,
  repositoryDetail,
  repositoryRecord,
  sameHostId,
} from "./repositories.ts";

type Named = z.infer<typeof LinkedRepository>;

/**
 * Finds the repository at the host.
 * @throws HostProblem; Refusal invalid if the number and the name identify different repositories
 */
const atHost = async (client: HostReader, { hostRepoId, fullName }: Named): Promise<ListedRepository> => {
  if (fullName === undefined) {
    if (hostRepoId === undefined) throw invalid("/hostRepoId", "is required unless fullName is sent");
    return client.repositoryById(hostRepoId);
  }
  const hostRepository = await client.repositoryByName(fullName);
  if (hostRepoId === undefined || hostRepository.id === hostRepoId) return hostRepository;
  throw invalid("/fullName", "belongs to a repository with another id");
};

/** Returns the repository from the request, and adds missing fields from deliveries. @throws Refusal invalid */
const asTold = async (
  context: Context,
  row: ConnectionRow,
  { hostRepoId, fullName }: Named,
): Promise<ListedRepository> => {
  if (hostRepoId === undefined) throw invalid("/hostRepoId", "is required: the connection has no token");
  const delivered = (await fromDeliveries(context, row)).find(({ id }) => id === hostRepoId);
  const name = fullName ?? delivered?.fullName;
  if (name === undefined) throw invalid("/fullName", "is required: no delivery has named this repository");
  return { id: hostRepoId, fullName: name, defaultBranch: delivered?.defaultBranch ?? null, isPrivate: null };
};

/** Finds an existing record of this repository, by this connection or by its address. */
const findRecord = async (context: Context, row: RepositoryColumns): Promise<FoundRepository | undefined> => {
  const isSame = or(
    and(eq(repository.connectionId, row.connectionId ?? ""), eq(repository.gitHostRepoId, row.gitHostRepoId)),
    and(eq(repository.cloneHost, row.cloneHost), eq(repository.gitHostRepoId, row.gitHostRepoId)),
    eq(repository.cloneUrl, row.cloneUrl),
  );
  const own = and(eq(repository.orgId, context.orgId), isSame);
  const [rows] = await context.db.run(context.db.sql.select(COLUMNS).from(repository).where(own));
  return rows.find(({ gitHostRepoId }) => gitHostRepoId === row.gitHostRepoId) ?? rows[0];
};

/** Checks the host's names. @throws Refusal conflict if one of them cannot be a repository's name or branch here */
const checkFound = (hostRepository: ListedRepository, defaultBranch: string): void => {
  if (!isUsable(hostRepository) || branchProblem(defaultBranch)) {
    throw new Refusal("conflict", "The repository's name or default branch at the host is not allowed here.");
  }
};

/** Returns the fields that a link changes in an existing record. */
const toLink = ({ gitHostRepoId, fullName, connectionId, hostHookId, version, updatedAt }: RepositoryColumns) => ({
  gitHostRepoId,
  fullName,
  connectionId,
  hostHookId,
  version,
  updatedAt,
});

/** Stores the record. @throws Refusal if another call stored it, or a similar one, at the same moment */
const store = async (context: Context, row: RepositoryColumns, before: FoundRepository | undefined): Promise<void> => {
  const write = before ? updateRow(context, repository, before, toLink(row)) : insertRepository(context, row);
  await commit(
    context,
    { action: before ? "repository.update" : "repository.connect", subject: row.id, detail: repositoryDetail(row) },
    [...ensureConnection(context, row.connectionId), ...write],
    sameHostId(context, row),
  );
};

/**
 * Removes the hook unless a record links the repository to the connection. If somebody deleted the connection
 * meanwhile, nobody else would remove the hook.
 */
const letGoOfHook = async (context: Context, owner: ConnectionRow, row: RepositoryColumns): Promise<void> => {
  const current = await findRecord(context, row);
  if (current?.connectionId !== owner.id) await removeHooks(context, owner, [row]);
};

/** Creates the record of a host's repository, or reuses an existing one, and registers its hook. */
export const linkRepository = verb({
  access: { role: "maintainer" },
  params: PathId,
  body: LinkedRepository,
  output: Repository,
  async run(context, { params, body }) {
    const owner = await findConnection(context, params.id);
    if (!owner.isActive) throw new Refusal("conflict", "The connection is not active.");
    const client = await asking(openClient(context, owner));
    const atHostNow = await (client ? asking(atHost(client, body)) : asTold(context, owner, body));
    const defaultBranch = body.defaultBranch ?? atHostNow.defaultBranch ?? "main";
    checkFound(atHostNow, defaultBranch);
    const { id: gitHostRepoId, fullName } = atHostNow;
    const cloneUrl = canonicalCloneUrl(cloneUrlAt(owner.webUrl, fullName));
    const fresh = newRepositoryRow(context, {
      gitHostRepoId,
      fullName,
      cloneUrl,
      defaultBranch,
      connectionId: owner.id,
    });
    const before = await findRecord(context, fresh);
    if (before && before.connectionId !== null && before.connectionId !== owner.id) {
      throw new Refusal("duplicate", "The repository belongs to another connection: see existingId.", {
        existingId: before.id,
      });
    }
    // An App has one hook for all its repositories.
    const hooks = owner.auth === "token" && body.registersHook !== false ? await openHookClient(context, owner) : null;
    const hostHookId = hooks
      ? await asking(registerHook(hooks, owner, atHostNow, await readHookSettings(context, owner)))
      : (before?.hostHookId ?? null);
    const row: RepositoryColumns = before
      ? { ...before, gitHostRepoId, fullName, connectionId: owner.id, hostHookId, ...nextVersion(context, before) }
      : { ...fresh, hostHookId };
    try {
      await store(context, row, before);
    } catch (error) {
      if (hooks) await letGoOfHook(context, owner, row);
      throw error;
    }
    return versioned(repositoryRecord({ ...row, hasCredential: before?.hasCredential ?? 0 }), row.version);
  },
});
