import { endedUndelivered } from "../read/live.ts";
import { type Decision, type DecisionContext, decided, later } from "../state/decision.ts";
import type { Change, Deletion } from "../state/facts.ts";
import type { PoolState } from "../state/state.ts";
import { voidUnapproved } from "./gates.ts";

/*
 * After a restore, D1 and the pool remember different pasts. Each attempt to send builds to D1 also sends the pool's
 * sequence. This sequence shows which side remembers less. If D1 was restored, D1 is complete up to a lower sequence
 * than it once got. If the pool was restored, the pool is at a lower sequence.
 */

/** The pool's sequences as D1 knows them: the highest sequence, and the sequence up to which D1 lacks nothing. */
export interface HeardSequence {
  sequence: number;
  complete: number;
}

export const NOTHING_HEARD: HeardSequence = { sequence: 0, complete: 0 };

/** The side that was restored to an earlier time, as far as the sequences show. */
type Restored = "none" | "database" | "pool";

/** The sequences that an attempt found in D1, and the pool's sequence that the attempt wrote. */
export interface ToldSequence {
  found: HeardSequence;
  written: number;
}

/** Stores the sequence of the last load if the first change since then would hide a restore of the pool. */
export const keepUnchecked = ({ unchecked, isUncheckedStored }: PoolState, changes: readonly Change[]): Change[] =>
  unchecked !== null && !isUncheckedStored && changes.some(({ kind }) => RAISING.has(kind))
    ? [{ kind: "unchecked", sequence: unchecked }]
    : [];

const RAISING: ReadonlySet<Change["kind"]> = new Set(["build", "audit", "revoked", "deleted", "tell-again"]);

/** A pool's actions after a restore. */
export interface Reconciled {
  /** The number of builds that the pool ended because they had ended in D1. */
  ended: number;
  /** The number of builds that were lost, and that the pool ended for that reason. */
  lost: number;
  /** The number of builds that the pool sends to D1 again. */
  told: number;
  agentsRemoved: number;
}

/** The maximum number of ended builds that one attempt adds to the builds that D1 gets again. */
const TELL_AGAIN_LIMIT = 200;

/** Compares D1's sequence with the pool's. Until they agree, the pool grants nothing. */
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

/**
 * Repeats reports after a restore of D1. D1 gets every active build and every deletion now, and the ended builds in
 * parts.
 */
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

/** Records an operator's notice that D1 was restored. Even an idle pool then repeats its reports. */
export const databaseRestored = (state: PoolState, _: null, context: DecisionContext): Decision<Reconciled> => {
  const count = state.builds.size + state.records.endedAfter(0, Number.POSITIVE_INFINITY).length;
  return decided(
    { ended: 0, lost: 0, told: count, agentsRemoved: 0 },
    tellAgain(state, state.databaseSequence, context),
  );
};

/** Returns the changes that follow from the sequence that an attempt found in D1 and the sequence that it wrote. */
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

/** Reports whether D1 has every revocation. */
export const hasToldRevocations = ({ revoked, databaseSequence }: PoolState, sequence: ToldSequence | null): boolean =>
  [...revoked.values()].every((at) => at <= Math.max(databaseSequence, sequence?.written ?? 0));

/** Reports whether D1 must get the sequence even without a build or an audit entry. */
export const isSequenceDue = (state: PoolState, revoked: string[]): boolean =>
  revoked.length > 0 || state.resendAfter !== null || state.outbox.deletions.due.size > 0;

/** Returns the tokens, by id or by a replaced secret's hash, that the next attempt deletes from D1. */
export const revocationsToTell = ({ revoked, resendAfter, databaseSequence }: PoolState): string[] => {
  const since = resendAfter === null ? databaseSequence : 0;
  return [...revoked].flatMap(([tokenId, at]) => (at > since ? [tokenId] : []));
};

/**
 * Returns the next ended builds that D1 gets again. The previous attempt has already sent the revocations of tokens.
 */
const tellNext = (state: PoolState, { now }: DecisionContext): Change[] => {
  const endedBuilds = state.records.endedAfter(state.resendAfter ?? 0, TELL_AGAIN_LIMIT);
  const last = endedBuilds.at(-1);
  return [
    last ? { kind: "tell-again", after: last.seq, at: later(state, now) } : { kind: "tell-again", after: null, at: 0 },
    ...endedBuilds.map(({ id }): Change => ({ kind: "untold", buildId: id, at: later(state, now) })),
  ];
};

/** Records that tokens, or replaced secrets of tokens (by their hashes), are no longer valid. */
export const revoke = (state: PoolState, { names }: { names: string[] }, { now }: DecisionContext): Decision<null> =>
  decided(
    null,
    names
      .filter((name) => !state.revoked.has(name))
      .map((tokenId): Change => ({ kind: "revoked", tokenId, at: later(state, now) })),
  );
