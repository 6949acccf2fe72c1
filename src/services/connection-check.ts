import type { HostHealth } from "../domain/githost/host-health.ts";
import type { HookSettings, HostClient } from "../hosts/host-client.ts";
import { HostProblem } from "../hosts/host-problem.ts";
import { PathId } from "../protocol/common.ts";
import { ConnectionCheck } from "../protocol/connection.ts";
import { hookedRepositories, ofEach, ownHook, settingsOf } from "./connection-hooks.ts";
import { findConnection } from "./connections.ts";
import type { Context } from "./core/context.ts";
import { verb } from "./core/verb.ts";
import { type ConnectionRow, clientOf } from "./host-access.ts";
import type { RepositoryRow } from "./repositories.ts";

const GONE = "The host has no hook of this connection: connect the repository again.";
const OLDER = "The host has a hook with an older address: rotate the connection, or connect the repository again.";

/** Why the host does not send to us of this repository; null where it does. */
const hookProblem = async (
  client: HostClient,
  row: ConnectionRow,
  { url }: HookSettings,
  { gitHostRepoId, fullName }: RepositoryRow,
): Promise<string | null> => {
  try {
    const hook = ownHook(await client.hooks({ id: gitHostRepoId, fullName }), row);
    if (!hook) return GONE;
    return hook.url === url ? hook.trouble : OLDER;
  } catch (error) {
    if (error instanceof HostProblem) return error.message;
    throw error;
  }
};

type AtHost = Pick<ConnectionCheck, "problem" | "account" | "scopes" | "missing" | "hooks">;

/** What the host says of the token and of the hooks. */
const askHost = async (context: Context, row: ConnectionRow): Promise<AtHost> => {
  const blank: AtHost = { problem: null, account: null, scopes: null, missing: [], hooks: [] };
  const client = await clientOf(context, row);
  if (!client) return blank;
  try {
    const { name, scopes } = await client.account();
    const [rows] = await context.db.run(hookedRepositories(context.db.sql, row));
    const settings = await settingsOf(context, row);
    const hooks = await ofEach(rows, (one) => hookProblem(client, row, settings, one));
    return { ...blank, account: name, scopes, missing: client.missing(scopes), hooks };
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
    const row = await findConnection(context, params.id);
    const gitHost = context.objects.gitHost(context.orgId, row.id);
    const [atHost, [last], health] = await Promise.all([
      askHost(context, row),
      gitHost.deliveries(1),
      gitHost.health(),
    ]);
    const states = statesOf(health);
    const { problem, missing, hooks } = atHost;
    const isReached = problem === null && states.trouble === null;
    const isOk = isReached && missing.length === 0 && hooks.every((hook) => hook.problem === null);
    return { ...atHost, ...states, isOk, lastDeliveryAt: last ? timeOf(last.at) : null };
  },
});
