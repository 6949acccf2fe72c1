import type { HostHealth } from "../domain/githost/host-health.ts";
import type { HookSettings, HostClient } from "../hosts/host-client.ts";
import { HostProblem } from "../hosts/host-problem.ts";
import { PathId } from "../protocol/common.ts";
import { ConnectionCheck, type HookOutcome } from "../protocol/connection.ts";
import { appHookProblem } from "./app-hooks.ts";
import { appOf } from "./app-proof.ts";
import { hookedRepositories, ofEach, ownHook } from "./connection-hooks.ts";
import { findConnection } from "./connections.ts";
import type { Context } from "./core/context.ts";
import { verb } from "./core/verb.ts";
import { settingsOf } from "./hook-settings.ts";
import { type ConnectionRow, clientOf, hookClientOf } from "./host-access.ts";
import type { RepositoryRow } from "./repositories.ts";
import { connectedRepositories, differencesOf } from "./repository-differences.ts";

const GONE = "The host has no hook of this connection: connect the repository again.";
const OLDER = "The host has a hook with an older address: rotate the connection, or connect the repository again.";

/** Why the host does not send to us of this repository; null where it does. @throws HostProblem */
const hookProblem = async (
  client: HostClient,
  row: ConnectionRow,
  { url }: HookSettings,
  { gitHostRepoId, fullName }: RepositoryRow,
): Promise<string | null> => {
  const hook = ownHook(await client.hooks({ id: gitHostRepoId, fullName }), row);
  if (!hook) return GONE;
  return hook.url === url ? hook.trouble : OLDER;
};

type AtHost = Pick<ConnectionCheck, "problem" | "account" | "scopes" | "missing" | "hooks">;

/** Each hook that the service registered for one repository. */
const hooksAtHost = async (context: Context, row: ConnectionRow, settings: HookSettings): Promise<HookOutcome[]> => {
  const client = await hookClientOf(context, row);
  if (!client) return [];
  const [rows] = await context.db.run(hookedRepositories(context.db.sql, row));
  return ofEach(rows, (one) => hookProblem(client, row, settings, one));
};

const appProblems = async (context: Context, row: ConnectionRow, settings: HookSettings): Promise<string[]> => {
  const problem = row.auth === "app" ? await appHookProblem(await appOf(context, row), settings) : null;
  return problem === null ? [] : [problem];
};

/** What the host says of the token, or of the App, and of the hooks. */
const askHost = async (context: Context, row: ConnectionRow): Promise<AtHost> => {
  const blank: AtHost = { problem: null, account: null, scopes: null, missing: [], hooks: [] };
  try {
    const client = await clientOf(context, row);
    if (!client) return blank;
    const { name, scopes } = await client.account();
    const settings = await settingsOf(context, row);
    const missing = [...client.missing(scopes), ...(await appProblems(context, row, settings))];
    return { ...blank, account: name, scopes, missing, hooks: await hooksAtHost(context, row, settings) };
  } catch (error) {
    if (!(error instanceof HostProblem)) throw error;
    return { ...blank, problem: error.message };
  }
};

const timeOf = (ms: number): string => new Date(ms).toISOString();

type OfStates = Pick<ConnectionCheck, "waiting" | "waitingSince" | "trouble" | "givenUp">;

/** What became of the states that the host is told. */
const statesOf = ({ waiting, waitingSince, trouble, givenUp }: HostHealth): OfStates => ({
  waiting,
  waitingSince: waitingSince === null ? null : timeOf(waitingSince),
  trouble: trouble?.reason ?? null,
  givenUp: givenUp.flatMap(({ fullName, sha, context, buildId, givenUp: end }) =>
    end ? [{ fullName, sha, context, buildId, reason: end.reason, at: timeOf(end.at) }] : [],
  ),
});

/** Tries the connection: whose token it is, what it lacks, whether the hooks are there, and when the host last sent. */
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
      differencesOf(context, row, connected),
      gitHost.deliveries(1),
      gitHost.health(),
    ]);
    const states = statesOf(health);
    const { problem, missing, hooks } = atHost;
    const isReached = problem === null && states.trouble === null;
    const isOk = isReached && missing.length === 0 && hooks.every((hook) => hook.problem === null);
    return { ...atHost, ...states, isOk, differences, lastDeliveryAt: last ? timeOf(last.at) : null };
  },
});
