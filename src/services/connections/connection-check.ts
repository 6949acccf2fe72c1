import { and, eq } from "drizzle-orm";
import { repository } from "../../db/schema.ts";
import { cloneHost } from "../../domain/clone-url.ts";
import type { HookSettings, HostClient } from "../../githosts/core/git-host.ts";
import { cloneUrlAt } from "../../githosts/core/host-address.ts";
import { HostProblem } from "../../githosts/core/host-api.ts";
import type { HostHealth } from "../../githosts/core/host-health.ts";
import { PathId } from "../../protocol/common.ts";
import { ConnectionCheck, type HookOutcome, type RepositoryDifference } from "../../protocol/connection.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Context } from "../core/context.ts";
import { verb } from "../core/verb.ts";
import type { RepositoryColumns } from "../repositories/repositories.ts";
import { hookedRepositories, ofEach, ownHook } from "./connection-hooks.ts";
import { fromDeliveries } from "./connection-repositories.ts";
import { findConnection } from "./connections.ts";
import {
  appHookProblem,
  type ConnectionRow,
  openApp,
  openClient,
  openHookClient,
  readHookSettings,
} from "./host-access.ts";

/**
 * Explains that the clone address at the host names another repository; null if it names the right one. Such an address
 * is usually older than a rename.
 */
const otherAddress = ({ cloneUrl, fullName }: RepositoryColumns, webUrl: string): string | null => {
  const address = cloneUrlAt(webUrl, fullName);
  const path = cloneUrl.toLowerCase().replace(/\.git$/, "");
  const isSame = ["/", ":"].some((before) => path.endsWith(before + fullName.toLowerCase()));
  if (isSame || cloneHost(cloneUrl) !== cloneHost(address)) return null;
  return `The clone address is ${cloneUrl}, but the host calls the repository ${fullName}: change the address if it was renamed.`;
};

const otherBranch = ({ defaultBranch }: RepositoryColumns, there: string | null): string | null =>
  there === null || there === defaultBranch
    ? null
    : `The default branch is ${there} at the host, but ${defaultBranch} here: change it here if it was renamed.`;

/** Reads the connection's repositories, at most as many as the last deliveries may name. */
const connectedRepositories = async ({ db, orgId }: Context, connectionId: string): Promise<RepositoryColumns[]> => {
  const isOfIt = and(eq(repository.orgId, orgId), eq(repository.connectionId, connectionId));
  const [rows] = await db.run(
    db.sql.select().from(repository).where(isOfIt).orderBy(repository.id).limit(LIMITS.deliveries),
  );
  return rows;
};

/** Finds repositories whose records differ from the host's last deliveries. The difference may be intended. */
const findDifferences = async (
  context: Context,
  row: ConnectionRow,
  connected: RepositoryColumns[],
): Promise<RepositoryDifference[]> => {
  const repositories = await fromDeliveries(context, row);
  const branches = new Map(repositories.map(({ id, defaultBranch }) => [id, defaultBranch]));
  return connected.flatMap((one) =>
    [otherAddress(one, row.webUrl), otherBranch(one, branches.get(one.gitHostRepoId) ?? null)].flatMap((detail) =>
      detail === null ? [] : [{ repositoryId: one.id, fullName: one.fullName, detail }],
    ),
  );
};

const GONE = "The host has no hook for this connection: reconnect the repository.";
const OLDER = "The host's hook has an outdated address: rotate the connection, or reconnect the repository.";

/**
 * Returns the reason why the host sends no deliveries for this repository; null if it sends them.
 * @throws HostProblem
 */
const hookProblem = async (
  client: HostClient,
  row: ConnectionRow,
  { url }: HookSettings,
  { gitHostRepoId, fullName }: RepositoryColumns,
): Promise<string | null> => {
  const hook = ownHook(await client.hooks({ id: gitHostRepoId, fullName }), row);
  if (!hook) return GONE;
  return hook.url === url ? hook.trouble : OLDER;
};

type HostFields = Pick<ConnectionCheck, "problem" | "account" | "scopes" | "missing" | "hooks">;

/** Checks each hook that the service registered for a single repository. */
const hooksAtHost = async (context: Context, row: ConnectionRow, settings: HookSettings): Promise<HookOutcome[]> => {
  const client = await openHookClient(context, row);
  if (!client) return [];
  const [rows] = await context.db.run(hookedRepositories(context.db.sql, row));
  return ofEach(rows, (one) => hookProblem(client, row, settings, one));
};

const appProblems = async (context: Context, row: ConnectionRow, settings: HookSettings): Promise<string[]> => {
  const problem = row.auth === "app" ? await appHookProblem(await openApp(context, row), settings) : null;
  return problem === null ? [] : [problem];
};

/** Asks the host about the token or the App, and about the hooks. */
const askHost = async (context: Context, row: ConnectionRow): Promise<HostFields> => {
  const blank: HostFields = { problem: null, account: null, scopes: null, missing: [], hooks: [] };
  try {
    const client = await openClient(context, row);
    if (!client) return blank;
    const { name, scopes } = await client.account();
    const settings = await readHookSettings(context, row);
    const missing = [...client.missing(scopes), ...(await appProblems(context, row, settings))];
    return { ...blank, account: name, scopes, missing, hooks: await hooksAtHost(context, row, settings) };
  } catch (error) {
    if (!(error instanceof HostProblem)) throw error;
    return { ...blank, problem: error.message };
  }
};

const toTimestamp = (ms: number): string => new Date(ms).toISOString();

type StateFields = Pick<ConnectionCheck, "waiting" | "waitingSince" | "trouble" | "givenUp">;

/** Returns the results of the commit statuses that the service sent to the host. */
const toStates = ({ waiting, waitingSince, trouble, givenUp }: HostHealth): StateFields => ({
  waiting,
  waitingSince: waitingSince === null ? null : toTimestamp(waitingSince),
  trouble: trouble?.reason ?? null,
  givenUp: givenUp.flatMap(({ fullName, sha, context, buildId, givenUp: end }) =>
    end ? [{ fullName, sha, context, buildId, reason: end.reason, at: toTimestamp(end.at) }] : [],
  ),
});

/** Checks the connection: the token's owner, missing permissions, the hooks, and the host's last delivery. */
export const checkConnection = verb({
  access: { role: "maintainer" },
  params: PathId,
  output: ConnectionCheck,
  async run(context, { params }) {
    const [row, connected] = await Promise.all([
      findConnection(context, params.id),
      connectedRepositories(context, params.id),
    ]);
    const gitHost = context.objects.gitHost(context.orgId, row.id);
    const [atHost, differences, [last], health] = await Promise.all([
      askHost(context, row),
      findDifferences(context, row, connected),
      gitHost.deliveries(1),
      gitHost.health(),
    ]);
    const states = toStates(health);
    const { problem, missing, hooks } = atHost;
    const isReached = problem === null && states.trouble === null;
    const isOk = isReached && missing.length === 0 && hooks.every((hook) => hook.problem === null);
    return { ...atHost, ...states, isOk, differences, lastDeliveryAt: last ? toTimestamp(last.at) : null };
  },
});
