import { endedUndelivered } from "../read/live.ts";
import { type Decision, type DecisionContext, decided, later } from "../state/decision.ts";
import type { Change, Deletion } from "../state/facts.ts";
import type { PoolState } from "../state/state.ts";
import { voidUnapproved } from "./gates.ts";

/* After a restore D1 and the pool remember different pasts. Each attempt to tell D1 of builds tells the pool's sequence
   too, so that the side that remembers less shows itself: D1 is complete up to a lower one than it was told, or the pool
   is at a lower one. */

/** What D1 heard of the pool's sequence: the highest, and the one up to which nothing is missing. */
export interface HeardSequence {
  sequence: number;
  complete: number;
}

export const NOTHING_HEARD: HeardSequence = { sequence: 0, complete: 0 };

/** Which side was restored to an earlier time, as far as a comparison of the sequences shows. */
type Restored = "none" | "database" | "pool";

/** What D1 had heard before an attempt, and the pool's sequence that the attempt wrote. */
export interface ToldSequence {
  found: HeardSequence;
  written: number;
}

/** Keeps the sequence at the load, where the first change since then would hide that the pool was restored. */
export const keepUnchecked = ({ unchecked, isUncheckedStored }: PoolState, changes: readonly Change[]): Change[] =>
  unchecked !== null && !isUncheckedStored && changes.some(({ kind }) => RAISING.has(kind))
    ? [{ kind: "unchecked", sequence: unchecked }]
    : [];

const RAISING: ReadonlySet<Change["kind"]> = new Set(["build", "audit", "revoked", "deleted", "tell-again"]);

/** What a pool did about a restore. */
export interface Reconciled {
  /** Builds that D1 knew to have ended. */
  ended: number;
  /** Builds that were lost, and have ended for that reason. */
  lost: number;
  /** Builds that D1 is told again. */
  told: number;
  agentsRemoved: number;
}

/** How many ended builds one attempt adds to what D1 is told again. */
const TELL_AGAIN_LIMIT = 200;

/** Compares what D1 heard with the pool's sequence. Until that agrees, the pool grants nothing. */
export const compare = (
  state: PoolState,
  { found }: { found: HeardSequence },
  context: DecisionContext,
): Decision<Restored> => {
  const restored = restoredSide(state, found, state.unchecked);
  if (restored === "pool") return decided(restored);
  const comparison: Change = { kind: "compared" };
  if (restored === "database") return decided(restored, [comparison, ...tellAgain(state, found.complete, context)]);
  const isKnown = found.complete === state.databaseSequence;
  return decided(
    restored,
    isKnown ? [comparison] : [comparison, { kind: "told", sequence: found.complete, isInMemory: true }],
  );
};

const restoredSide = (
  { databaseSequence }: PoolState,
  { sequence, complete }: HeardSequence,
  own: number | null,
): Restored => {
  if (own !== null && sequence > own) return "pool";
  return complete < databaseSequence ? "database" : "none";
};

/** D1 was restored: it is told of every active build and every deletion now, and of the ended builds part by part. */
const tellAgain = (state: PoolState, sequence: number, context: DecisionContext): Change[] => [
  { kind: "told", sequence },
  { kind: "tell-again", after: 0, at: later(state, context.now) },
  ...[...state.builds.keys(), ...endedUndelivered(state)].map(
    (buildId): Change => ({ kind: "untold", buildId, at: later(state, context.now) }),
  ),
  ...deleteAgain(state, state.records.rememberedDeletions(), context),
  ...voidUnapproved(state, new Set(), context),
  { kind: "attempt", channel: "lists", at: context.now, failures: 0 },
];

export const deleteAgain = (state: PoolState, deletions: Deletion[], { now }: DecisionContext): Change[] => {
  const at = later(state, now);
  return deletions.map((deletion) => ({ kind: "deleted", deletion: { ...deletion, at, isSettled: false } }));
};

/** An operator says that D1 was restored, so that an idle pool tells it again too. */
export const databaseRestored = (state: PoolState, _: null, context: DecisionContext): Decision<Reconciled> => {
  const count = state.builds.size + state.records.endedAfter(0, Number.POSITIVE_INFINITY).length;
  return decided(
    { ended: 0, lost: 0, told: count, agentsRemoved: 0 },
    tellAgain(state, state.databaseSequence, context),
  );
};

/** What follows from the sequence that an attempt found in D1, and from the one that it wrote there. */
export const recordSequence = (
  state: PoolState,
  { sequence, failed }: { sequence: ToldSequence | null; failed: boolean },
  isStored: boolean,
  context: DecisionContext,
): Change[] => {
  if (!sequence) return [];
  const { found, written } = sequence;
  const restored = restoredSide(state, found, written);
  if (restored === "pool") return [{ kind: "unchecked", sequence: written }];
  if (restored === "database") return tellAgain(state, found.complete, context);
  const nextChanges = state.resendAfter !== null && !failed ? tellNext(state, context) : [];
  const mustStore = isStored || written > state.sequence;
  const sequenceChanges: Change[] =
    written > state.databaseSequence || (mustStore && !state.isDatabaseSequenceStored)
      ? [{ kind: "told", sequence: written, ...(mustStore ? {} : { isInMemory: true }) }]
      : [];
  return [...sequenceChanges, ...nextChanges];
};

/** Whether D1 has heard of every revocation. */
export const hasToldRevocations = ({ revoked, databaseSequence }: PoolState, sequence: ToldSequence | null): boolean =>
  [...revoked.values()].every((at) => at <= Math.max(databaseSequence, sequence?.written ?? 0));

/** Whether D1 is told the sequence even where there is no build and no entry to tell. */
export const isSequenceDue = (state: PoolState, revoked: string[]): boolean =>
  revoked.length > 0 || state.resendAfter !== null || state.outbox.deletions.due.size > 0;

/** The tokens, by id or by the hash of a replaced secret, that the next attempt deletes from D1. */
export const revocationsToTell = ({ revoked, resendAfter, databaseSequence }: PoolState): string[] => {
  const since = resendAfter === null ? databaseSequence : 0;
  return [...revoked].flatMap(([tokenId, at]) => (at > since ? [tokenId] : []));
};

/** The next ended builds that D1 is told again. The revocations of tokens went with the attempt before. */
const tellNext = (state: PoolState, { now }: DecisionContext): Change[] => {
  const endedBuilds = state.records.endedAfter(state.resendAfter ?? 0, TELL_AGAIN_LIMIT);
  const last = endedBuilds.at(-1);
  return [
    last ? { kind: "tell-again", after: last.seq, at: later(state, now) } : { kind: "tell-again", after: null, at: 0 },
    ...endedBuilds.map(({ id }): Change => ({ kind: "untold", buildId: id, at: later(state, now) })),
  ];
};

/** Remembers that tokens, or replaced secrets of tokens by their hashes, are no longer valid. */
export const revoke = (state: PoolState, { names }: { names: string[] }, { now }: DecisionContext): Decision<null> =>
  decided(
    null,
    names
      .filter((name) => !state.revoked.has(name))
      .map((tokenId): Change => ({ kind: "revoked", tokenId, at: later(state, now) })),
  );
