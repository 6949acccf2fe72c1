import type { ToldState } from "../../githosts/core/host-report.ts";
import { MINUTE_MS } from "../../protocol/units.ts";
import { hasToldRevocations, recordSequence, type ToldSequence } from "../commands/sequence.ts";
import { FLUSH_DELAY_MS } from "./apply.ts";
import { type Decision, type DecisionContext, decided, later } from "./decision.ts";
import { BUILD_CHANNELS, type BuildChannel, type Change, type Channel } from "./facts.ts";
import type { Rules } from "./rules.ts";
import type { PoolState } from "./state.ts";

const MAX_BACKOFF_MS = MINUTE_MS;
/** Milliseconds after a deletion until no earlier write can arrive any more. The pool then repeats the deletion. */
const SETTLE_MS = MINUTE_MS;

/** A delivered build with its version, or a delivered deletion with its time. */
export interface Heard {
  buildId: string;
  version?: number;
  /** The state that a git host shows now; null if there is nothing left to report. */
  state?: ToldState | null;
}

/** The result of one attempt on a channel. */
export interface Delivered {
  builds: Heard[];
  /** The sequence numbers of audit entries, or of log closes. */
  entries: number[];
  /** Whether any delivery failed. */
  failed: boolean;
  /** D1's sequence. Null if the attempt sent nothing that raises the pool's sequence there, or if D1 did not answer. */
  sequence: ToldSequence | null;
}

export const nothingDelivered = (failed = false): Delivered => ({ builds: [], entries: [], failed, sequence: null });

/** Returns the next attempt's time, with an exponential back-off of at most 60 s. */
const nextAttempt = (now: number, failures: number): number =>
  now + Math.min(FLUSH_DELAY_MS * 2 ** failures, MAX_BACKOFF_MS);

/** Reports whether the build has had no later change that the channel must also deliver. */
const knowsEnough = ({ builds, records }: PoolState, channel: BuildChannel, delivery: Heard, rules: Rules): boolean => {
  const { buildId, version = 0, state } = delivery;
  const build = builds.get(buildId) ?? records.ended(buildId);
  if (!build || channel === "logs") return true;
  return channel === "lists"
    ? rules.isHeard(build, version)
    : !state || rules.isHostTold(build, state, delivery.version);
};

/**
 * Stores the highest fence before the last row that may contain it is gone. A load skips a row that all channels
 * delivered.
 */
export const storeFence = ({ fence, storedFence }: PoolState): Change[] =>
  fence > storedFence ? [{ kind: "fence", fence }] : [];

/** Records a delivery. An ended build's row is the outbox of all channels until the last channel has delivered it. */
const deliveryChanges = (state: PoolState, channel: BuildChannel, { buildId, state: hostState }: Heard): Change[] => {
  const mark = channel === "lists" ? { isTold: true } : hostState ? { toldHost: hostState } : {};
  const deliveredChange: Change = { kind: "delivered", channel, buildId, known: mark };
  const isLast = BUILD_CHANNELS.every((other) => other === channel || !state.outbox[other].due.has(buildId));
  const endedBuild = isLast && !state.builds.has(buildId) ? state.records.ended(buildId) : undefined;
  return endedBuild
    ? [deliveredChange, { kind: "heard", buildId, endedAt: endedBuild.finishedAt! }, ...storeFence(state)]
    : [deliveredChange];
};

/** Records the deliveries of an attempt, and when the next attempt is due. */
export const recordDelivery = (
  state: PoolState,
  { channel, ...result }: Delivered & { channel: Channel },
  context: DecisionContext,
): Decision<null> => {
  if (channel === "deletions") return recordDeletions(state, result, context);
  const { rules, now } = context;
  const { entries, failed, sequence } = result;
  const { due, failures: before } = state.outbox[channel];
  const builds = result.builds.filter(
    (delivery) => due.has(delivery.buildId) && knowsEnough(state, channel, delivery, rules),
  );
  const changes = builds.flatMap((delivery) => deliveryChanges(state, channel, delivery));
  const remaining = due.size - builds.length + state.records.pending(channel) - entries.length;
  const failures = failed ? before + 1 : 0;
  const isMore = channel === "lists" && (state.resendAfter !== null || !hasToldRevocations(state, sequence));
  const at = isMore || rules.deliversAgain(remaining, failed, channel) ? nextAttempt(now, failures) : null;
  const isStored = builds.some(({ buildId }) => !state.builds.has(buildId)) || result.builds.length === 0;
  return decided(null, [
    ...changes,
    ...(entries.length > 0 ? [{ kind: "entries-delivered", channel, entries } as const] : []),
    { kind: "attempt", channel, at, failures },
    ...recordSequence(state, result, isStored, context),
  ]);
};

/**
 * Records final deletions in two steps: first when no late write can undo them, and again after D1 has got that record.
 * Meanwhile, a person may have deleted the build after deleting its log.
 */
const recordDeletions = (state: PoolState, { builds, failed }: Delivered, { now }: DecisionContext): Decision<null> => {
  const { due, failures: before } = state.outbox.deletions;
  const failures = failed ? before + 1 : 0;
  const deletions = builds.flatMap(({ buildId, version }) => {
    const deletion = state.records.deletion(buildId);
    return deletion && deletion.at === version ? deletion : [];
  });
  const buildIds = deletions.filter(({ isSettled }) => isSettled).map(({ buildId }) => buildId);
  const settledDeletions = deletions.filter(({ isSettled, at }) => !isSettled && now >= at + SETTLE_MS);
  const isEmpty = due.size <= buildIds.length;
  const at = failed ? nextAttempt(now, failures) : isEmpty ? null : now + SETTLE_MS;
  const changes = settledDeletions.map((deletion): Change => {
    return { kind: "deleted", deletion: { ...deletion, at: later(state, now), isSettled: true } };
  });
  if (buildIds.length > 0) changes.push({ kind: "deletions-done", buildIds });
  if (buildIds.length > 0 && !state.isDatabaseSequenceStored)
    changes.push({ kind: "told", sequence: state.databaseSequence });
  return decided(null, [...changes, { kind: "attempt", channel: "deletions", at, failures }]);
};
