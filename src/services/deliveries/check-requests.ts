import type { CheckRequest } from "../../githosts/core/arrival.ts";
import { toWish } from "../../githosts/core/check-requests.ts";
import type { DeliveryTaken } from "../../protocol/delivery.ts";
import type { Role } from "../../protocol/token.ts";
import { repeatBuild } from "../builds/retry.ts";
import type { ConnectionRow } from "../connections/host-access.ts";
import { actorOf, type Context } from "../core/context.ts";
import { Refusal } from "../core/refusal.ts";
import type { ArrivalRows } from "./arrival-rows.ts";

type Outcome = Pick<DeliveryTaken, "builds" | "ignored">;

/** A person's request in a delivery, with the person's identity. */
interface GrantedRequest {
  connection: ConnectionRow;
  deliveryId: string;
  arrival: CheckRequest;
  sender: string;
  role: Role;
}

const nothing = (ignored: string): Outcome => ({ builds: [], ignored });

const HOST_RETRY_SECONDS = 60;

/** Returns the person's role according to the host. @throws Refusal unavailable if the host does not report it */
const askRole = async ({ objects, orgId }: Context, { id }: ConnectionRow, fullName: string, sender: string) => {
  const said = await objects.gitHost(orgId, id).readRole(fullName, sender);
  if ("away" in said) throw new Refusal("unavailable", said.away, { retryAfterSeconds: HOST_RETRY_SECONDS });
  return said.role;
};

/** Returns why the request failed, if the failure is final. Otherwise throws the error. */
const whyNot = (error: unknown): string => {
  const isFinal = error instanceof Refusal && error.kind !== "unavailable";
  if (!isFinal) throw error;
  return error.message;
};

/** Retries only the failed jobs of a build with several jobs. Retries any other build as a whole. */
const repeatFailed = async (context: Context, id: string, request: Parameters<typeof repeatBuild>[3]) => {
  try {
    return await repeatBuild(context, id, "failed", request);
  } catch (error) {
    whyNot(error);
    return repeatBuild(context, id, undefined, request);
  }
};

const rerun = async (
  context: Context,
  asking: GrantedRequest,
  ids: string[],
  isOfFailed: boolean,
): Promise<Outcome> => {
  const { connection, deliveryId, sender } = asking;
  const [builds, reasons]: [string[], string[]] = [[], []];
  for (const id of ids) {
    const request = { sender, connection: { id: connection.id, name: connection.name }, key: `${deliveryId} ${id}` };
    try {
      const again = isOfFailed ? repeatFailed(context, id, request) : repeatBuild(context, id, undefined, request);
      builds.push((await again).id);
    } catch (error) {
      reasons.push(whyNot(error));
    }
  }
  const [reason = null] = reasons;
  return { builds, ignored: reason && builds.length > 0 ? `${reasons.length} not created: ${reason}` : reason };
};

const approve = async (
  context: Context,
  { sender, role, arrival }: GrantedRequest,
  { buildId, index }: { buildId: string; index: number },
) => {
  const pool = await context.pool();
  const by = { role, name: sender, actor: { ...actorOf(context), sender } };
  const request = { id: buildId, index, approved: true, comment: null, commitSha: arrival.sha, ...by };
  const decided = await pool.decideGate(request);
  return decided.ok ? { builds: [buildId], ignored: null } : nothing(decided.refusal.detail ?? "it was rejected");
};

/**
 * Carries out a person's request at the host, if the host says that the person may write there. A repeated delivery
 * creates nothing twice.
 * @throws Refusal unavailable
 */
export const takeCheckRequest = async (
  context: Context,
  { connection, repository }: ArrivalRows,
  deliveryId: string,
  arrival: CheckRequest,
): Promise<Outcome> => {
  const { sender, sha } = arrival;
  if (!connection || !repository) return nothing("no active repository of this connection has this id");
  if (connection.auth !== "app" || connection.appId !== String(arrival.appId)) {
    return nothing("the check belongs to another App");
  }
  const host = context.objects.gitHost(context.orgId, connection.id);
  const wish = toWish(arrival, await host.statuses(repository.gitHostRepoId, sha));
  if ("nothing" in wish) return nothing(wish.nothing);
  const role = sender === null ? null : await askRole(context, connection, arrival.repository.fullName, sender);
  if (sender === null || role === null) return nothing("the sender may not write to the repository");
  const asking = { connection, deliveryId, arrival, sender, role };
  if ("approve" in wish) return approve(context, asking, wish.approve);
  return rerun(context, asking, wish.rerun, arrival.kind === "rerun" && arrival.externalId === null);
};
