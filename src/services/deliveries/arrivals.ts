import { branchOf, tagOf } from "../../domain/git-ref.ts";
import { NO_WINDOWS } from "../../domain/requires.ts";
import type { Arrival } from "../../githosts/core/arrival.ts";
import { chooseHostTarget } from "../../githosts/core/build-origin.ts";
import { deliveryNote } from "../../githosts/core/delivery-note.ts";
import { type Effects, toRefEvent, type WantedBuild } from "../../githosts/core/effect-facts.ts";
import { decideEffects, MOST_BUILDS } from "../../githosts/core/effects.ts";
import { hookName } from "../../githosts/core/hook-address.ts";
import { isOfAnother, pushersBefore } from "../../githosts/core/source-trust.ts";
import { explainReason } from "../../githosts/core/wants.ts";
import { log } from "../../log.ts";
import type { DeliveryTaken } from "../../protocol/delivery.ts";
import type { DeliveredBuild } from "../../queue/commands/commands.ts";
import type { ConnectionRow } from "../connections/host-access.ts";
import { actorOf, type Context } from "../core/context.ts";
import { Refusal, settled } from "../core/refusal.ts";
import { readTriggers } from "../repositories/pipeline-files.ts";
import { afterArrival } from "./after-arrival.ts";
import {
  type ArrivalRows,
  type PipelineRow,
  type RepositoryRow,
  readArrivalRows,
  readPushedBy,
  readRules,
} from "./arrival-rows.ts";
import { takeCheckRequest } from "./check-requests.ts";
import { newBuilds } from "./new-builds.ts";
import { isLate, toOpenPulls, withAuthor } from "./open-pulls.ts";

interface ConnectedRows {
  connection: ConnectionRow;
  repository: RepositoryRow;
  pipelines: PipelineRow[];
}

/** Notifies the host's object about the missing builds of a commit, so that the commit does not pass without them. */
const tellLeftOut = async (
  context: Context,
  { connection, repository, pipelines }: ConnectedRows,
  leftOut: WantedBuild[],
): Promise<void> => {
  const [first] = leftOut;
  if (!first) return;
  const targets = leftOut.map(({ pipelineId, event }) =>
    chooseHostTarget(
      repository,
      pipelines.find(({ id }) => id === pipelineId),
      event,
      context.origin,
    ),
  );
  const branch = branchOf(first.ref);
  await context.objects.gitHost(context.orgId, connection.id).leaveOut({
    repoId: repository.gitHostRepoId,
    fullName: repository.fullName,
    origin: context.origin,
    sha: first.sha,
    ref: tagOf(branch) ?? branch,
    contexts: targets.flatMap((target) => (target ? [target.context] : [])),
  });
};

/** A delivery that is proven to come from a connection's host, or the redelivery of such a delivery. */
export interface SentDelivery {
  connectionId: string;
  /** The generation of the delivery's hook; null if a person redelivers the delivery. */
  generation: number | null;
  id: string;
  event: string | null;
  arrival: Arrival;
}

/** The delivery's outcome. */
type Outcome = Pick<DeliveryTaken, "builds" | "ignored">;

const hookGone = () => new Refusal("gone", "This hook does not belong to an active connection.");

const nothing = (ignored: string): Outcome => ({ builds: [], ignored });

const effectsFor = (
  { origin }: Context,
  { repository, pipelines, pulls }: ArrivalRows,
  arrival: Arrival,
): Effects | string => {
  if (arrival.kind === "ignored") return arrival.reason;
  if (arrival.kind === "ping") return "the host tests the hook";
  if (!repository) return "no active repository of this connection has this id";
  if (arrival.kind === "pull" && isLate(pulls, arrival)) return "a later change of the pull request arrived first";
  const { skippedHeads } = repository;
  const pushedBy = readPushedBy(repository);
  const rules = readRules(repository);
  const event = toRefEvent(arrival, {
    isSkippedSha: (sha) => skippedHeads?.includes(sha) ?? false,
    pushers: pushersBefore(arrival, pushedBy, rules),
    isOfAnother: isOfAnother(arrival, pushedBy),
  });
  if (event === null) {
    const isOfBranch = arrival.kind === "renamed" && arrival.from?.defaultBranch;
    const ignored = isOfBranch ? "the repository's default branch changed" : "the repository was renamed";
    return { builds: [], ended: [], openPull: null, ignored, leftOut: [] };
  }
  const buildable = pipelines.filter(({ requires }) => requires.platform !== "windows");
  const wanting = buildable.map((row) => {
    const { on, supersede } = readTriggers(row);
    return { id: row.id, file: row.definition === null ? row.configPath : null, on, supersede };
  });
  const { defaultBranch } = rules;
  const effects = decideEffects(event, rules, wanting, toOpenPulls(pulls));
  const address = `${origin}/app/repositories/${repository.id}`;
  if (effects.ignored && buildable.length === 0 && pipelines.length > 0) return { ...effects, ignored: NO_WINDOWS };
  return {
    ...effects,
    ignored: effects.ignored && explainReason(effects.ignored, arrival, { defaultBranch, address }),
  };
};

/** Explains why fewer builds exist than the delivery wanted; null if the pool refused none. */
const whyFewer = (builds: DeliveredBuild[], madeCount: number): string | null => {
  const refused = builds.filter(({ outcome }) => outcome === "refused");
  const reason = refused[0]?.reason ?? null;
  return reason !== null && madeCount > 0 ? `${refused.length} not created: ${reason}` : reason;
};

const toOutcome = (builds: DeliveredBuild[], { ignored, leftOut }: Effects): Outcome => {
  const buildIds = builds.flatMap(({ outcome, buildId }) =>
    buildId !== null && (outcome === "made" || outcome === "same") ? [buildId] : [],
  );
  if (leftOut.length > 0) {
    return {
      builds: buildIds,
      ignored: `${leftOut.length} not created: one delivery creates at most ${MOST_BUILDS}`,
    };
  }
  const whyNone = builds.length > 0 ? "a newer head of the ref arrived first" : ignored;
  return { builds: buildIds, ignored: whyFewer(builds, buildIds.length) ?? (buildIds.length > 0 ? null : whyNone) };
};

/** Applies any effects at the pool, in one call. After that, applies any effects in D1, in one batch. */
const carryOut = async (
  context: Context,
  delivery: SentDelivery,
  rows: ArrivalRows,
  effects: Effects,
): Promise<Outcome> => {
  const { connection, repository } = rows;
  if (!connection || !repository) return nothing("");
  const { arrival, connectionId, id, generation } = delivery;
  let delivered: DeliveredBuild[] = [];
  // Notify the host before a build exists that could succeed.
  await tellLeftOut(context, { ...rows, connection, repository }, effects.leftOut);
  if (effects.builds.length > 0 || effects.ended.length > 0) {
    const pool = await context.pool();
    const builds = newBuilds(context, { ...rows, connection, repository, arrival }, effects.builds);
    const { orgId } = context;
    const hook = generation === null ? null : hookName(connectionId, generation);
    const command = {
      orgId,
      connectionId,
      deliveryId: id,
      hook,
      builds,
      ended: effects.ended,
      actor: actorOf(context),
    };
    const answer = await pool.arrive(command);
    // An operator restored D1 to a time when the hook was valid.
    if (!answer.ok && answer.refusal.kind === "unauthenticated") throw hookGone();
    delivered = settled(answer).builds;
    const isRefused = ({ pipelineId }: WantedBuild) =>
      delivered.some((one) => one.outcome === "refused" && one.pipelineId === pipelineId);
    await tellLeftOut(context, { ...rows, connection, repository }, effects.builds.filter(isRefused));
  }
  const statements = afterArrival(context, { ...rows, connection, repository }, arrival, effects, generation === null);
  if (statements.length > 0) await context.db.run(...statements);
  return toOutcome(delivered, effects);
};

/** Checks the hook. @throws Refusal gone if D1 was restored to a time when the hook was valid */
const checkHook = async (
  context: Context,
  { connectionId, id, generation }: SentDelivery & { generation: number },
): Promise<void> => {
  const hook = hookName(connectionId, generation);
  const command = { orgId: context.orgId, connectionId, deliveryId: id, hook, builds: [], ended: [] };
  const answer = await (await context.pool()).arrive({ ...command, actor: actorOf(context) });
  if (!answer.ok && answer.refusal.kind === "unauthenticated") throw hookGone();
};

const takeWith = async (context: Context, delivery: SentDelivery, rows: ArrivalRows): Promise<Outcome> => {
  const { arrival } = delivery;
  if (arrival.kind === "rerun" || arrival.kind === "pressed") {
    if (delivery.generation === null) return nothing("a person's request at the host cannot be redelivered");
    await checkHook(context, { ...delivery, generation: delivery.generation });
    return takeCheckRequest(context, rows, delivery.id, arrival);
  }
  const effects = effectsFor(context, rows, delivery.arrival);
  return typeof effects === "string" ? nothing(effects) : carryOut(context, delivery, rows, effects);
};

/** Adds the delivery to the list of deliveries. A failure here only leaves the delivery out of the list. */
const note = async (
  context: Context,
  { connectionId, event, arrival }: SentDelivery,
  outcome: DeliveryTaken,
): Promise<void> => {
  // Without this wait, the service would send the call before the answer.
  await new Promise((resolve) => setTimeout(resolve, 0));
  try {
    const host = context.objects.gitHost(context.orgId, connectionId);
    await host.noteDelivery(deliveryNote(outcome, event, arrival, context.now));
  } catch (error) {
    const { requestId, orgId } = context;
    log.error("delivery.list_failed", { orgId, requestId, connectionId, error });
  }
};

/**
 * Processes a delivery. One transaction of the pool creates and ends its builds, and the service can repeat every step
 * after that.
 * @throws Refusal gone if the connection is not active, or if this generation of its hook is no longer valid
 */
export const takeUnlisted = async (context: Context, delivery: SentDelivery): Promise<DeliveryTaken> => {
  const { connectionId, generation, id, arrival } = delivery;
  const rows = await readArrivalRows(context, connectionId, arrival);
  const isOld = generation !== null && rows.connection?.hookGeneration !== generation;
  if (!rows.connection?.isActive || isOld) throw hookGone();
  const withKnownAuthor = { ...delivery, arrival: withAuthor(rows.pulls, arrival) };
  return { delivery: id, ...(await takeWith(context, withKnownAuthor, rows)) };
};

/** Processes a delivery and lists it. Lists a host's delivery only after the answer. @throws Refusal gone */
export const takeArrival = async (context: Context, delivery: SentDelivery): Promise<DeliveryTaken> => {
  const outcome = await takeUnlisted(context, delivery);
  const noted = note(context, delivery, outcome);
  // A person looks at the list next, but a host gets its answer first.
  if (delivery.generation === null) await noted;
  else context.waitUntil(noted);
  return outcome;
};
