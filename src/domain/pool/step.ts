import * as agents from "./agents.ts";
import { apply } from "./apply.ts";
import { cancel, flagLeak } from "./cancel.ts";
import { claim, deliver, failClaim, unclaim } from "./claim.ts";
import type * as asked from "./commands.ts";
import { type Decision, decided, type Push, type Setting } from "./decision.ts";
import { enqueue } from "./enqueue.ts";
import type { Change } from "./facts.ts";
import { hear } from "./hear.ts";
import { type Flushed, flushed } from "./outbox.ts";
import { REMEMBER_MS } from "./rules.ts";
import type { PoolState } from "./state.ts";
import { FORGOTTEN_AT_ONCE, signOfLife, sweep, trulyDue } from "./sweep.ts";
import { wake } from "./wake.ts";
import { finish, heartbeat, progress, release, start } from "./work.ts";

/** Everything the pool can be told, by name. */
const DECISIONS = {
  enqueue,
  claim,
  deliver,
  unclaim,
  failClaim,
  start,
  heartbeat,
  progress,
  release,
  finish,
  cancel,
  flagLeak,
  flushed: (state: PoolState, done: Flushed, setting: Setting) => flushed(state, done, setting),
  registerAgent: agents.register,
  updateAgent: agents.update,
  removeAgent: agents.remove,
  removeAgentsOf: agents.removeRegistered,
  authenticateAgent: agents.authenticate,
  wait: agents.wait,
  leave: agents.leave,
  /** Nothing but what is due. */
  sweep: (_state: PoolState, _: null, _setting: Setting) => decided(null),
  /** Forgets builds and keys that nobody may ask the pool for any more. */
  tidy: (_state: PoolState, _: null, { now }: Setting) =>
    decided(null, [{ kind: "forget", before: now - REMEMBER_MS }]),
} as const;

export type Verb = keyof typeof DECISIONS;
export type Input<V extends Verb> = Parameters<(typeof DECISIONS)[V]>[1];
export type Output<V extends Verb> = ReturnType<(typeof DECISIONS)[V]> extends Decision<infer T> ? T : never;

/** What the pool would answer and change, were it told this now. Reads the state and changes nothing. */
export const decide = <V extends Verb>(
  state: PoolState,
  verb: V,
  input: Input<V>,
  setting: Setting,
): Decision<Output<V>> =>
  (DECISIONS[verb] as unknown as (s: PoolState, i: Input<V>, c: Setting) => Decision<Output<V>>)(state, input, setting);

/**
 * Does what is overdue, hears the caller, decides, and wakes whom that concerns. `commit` is given the changes of
 * each part in order: it stores all of them in one transaction, or throws, and then the state is not to be used again.
 */
export const play = <V extends Verb>(
  state: PoolState,
  verb: V,
  input: Input<V>,
  setting: Setting,
  commit: (changes: readonly Change[]) => void,
): { answer: asked.Result<Output<V>>; pushes: Push[] } => {
  const pushes: Push[] = [];
  const enact = <T>(decision: Decision<T>): asked.Result<T> => {
    if (decision.changes.length > 0) {
      commit(decision.changes);
      apply(state, decision.changes);
    }
    pushes.push(...decision.pushes);
    return decision.answer;
  };
  const due = state.agenda.take(setting.now);
  const unfollowed = state.index.hints.take(setting.now);
  const silent = state.index.signs.take(setting.now - setting.agentMs, FORGOTTEN_AT_ONCE);
  if (due.length + unfollowed.length + silent.length > 0) enact(sweep(state, due, unfollowed, silent, setting));
  for (const agentId of silent) {
    const at = signOfLife(state, agentId, setting);
    if (at !== null) state.index.signs.note(agentId, at);
  }
  for (const key of due) {
    const at = trulyDue(state, key);
    if (at !== null && at > setting.now) state.agenda.note(key, at);
  }
  if (verb === "claim" || verb === "heartbeat" || verb === "wait")
    enact(hear(state, { ...(input as asked.Claim), by: verb }, setting));
  const answer = enact(decide(state, verb, input, setting));
  enact(wake(state, setting));
  return { answer, pushes };
};

/** When the pool is to be called again, even by nobody: an alarm is to be set for it. */
export const nextDue = (state: PoolState, { agentMs }: Pick<Setting, "agentMs">): number | null => {
  const silence = state.index.signs.next();
  const forgetting = silence === null ? null : silence + agentMs;
  const times = [state.agenda.next(), state.flush.at, forgetting].filter((at) => at !== null);
  return times.length > 0 ? Math.min(...times) : null;
};

/** When the oldest hint is given up. Nothing is lost if nobody looks then: a timer is enough. */
export const nextOfferDue = (state: PoolState): number | null => state.index.hints.next();
