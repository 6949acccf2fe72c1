import * as agents from "./agents.ts";
import { apply } from "./apply.ts";
import { cancel, flagLeak } from "./cancel.ts";
import { claim, deliver, failClaim, unclaim } from "./claim.ts";
import type * as asked from "./commands.ts";
import { recordContact } from "./contact.ts";
import { type Decision, type DecisionContext, decided, type Push } from "./decision.ts";
import { enqueue } from "./enqueue.ts";
import type { Change } from "./facts.ts";
import { type FlushResult, recordFlush } from "./outbox.ts";
import { REMEMBER_MS } from "./rules.ts";
import type { PoolState } from "./state.ts";
import { actualDeadline, FORGOTTEN_AT_ONCE, lastContact, sweep } from "./sweep.ts";
import { offerBuilds } from "./offers.ts";
import { finish, heartbeat, progress, release, start } from "./work.ts";

/** Everything the pool can be told, by name. */
const COMMANDS = {
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
  flushed: (state: PoolState, done: FlushResult, context: DecisionContext) => recordFlush(state, done, context),
  registerAgent: agents.register,
  updateAgent: agents.update,
  removeAgent: agents.remove,
  removeAgentsOf: agents.removeRegistered,
  authenticateAgent: agents.authenticate,
  wait: agents.wait,
  leave: agents.leave,
  /** Nothing but what is due. */
  sweep: (_state: PoolState, _: null, _setting: DecisionContext) => decided(null),
  /** Forgets builds and keys that nobody may ask the pool for any more. */
  tidy: (_state: PoolState, _: null, { now }: DecisionContext) =>
    decided(null, [{ kind: "forget", before: now - REMEMBER_MS }]),
} as const;

export type Command = keyof typeof COMMANDS;
export type Input<V extends Command> = Parameters<(typeof COMMANDS)[V]>[1];
export type Output<V extends Command> = ReturnType<(typeof COMMANDS)[V]> extends Decision<infer T> ? T : never;

/** What the pool would answer and change, were it told this now. Reads the state and changes nothing. */
export const decide = <V extends Command>(
  state: PoolState,
  verb: V,
  input: Input<V>,
  context: DecisionContext,
): Decision<Output<V>> =>
  (COMMANDS[verb] as unknown as (s: PoolState, i: Input<V>, c: DecisionContext) => Decision<Output<V>>)(
    state,
    input,
    context,
  );

/**
 * Does what is overdue, hears the caller, decides, and wakes whom that concerns. `commit` is given the changes of
 * each part in order: it stores all of them in one transaction, or throws, and then the state is not to be used again.
 */
export const step = <V extends Command>(
  state: PoolState,
  verb: V,
  input: Input<V>,
  context: DecisionContext,
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
  const due = state.deadlines.takeDue(context.now);
  const unfollowed = state.index.offerDeadlines.takeDue(context.now);
  const silent = state.index.contacts.takeDue(context.now - context.agentMs, FORGOTTEN_AT_ONCE);
  if (due.length + unfollowed.length + silent.length > 0) enact(sweep(state, due, unfollowed, silent, context));
  for (const agentId of silent) {
    const at = lastContact(state, agentId, context);
    if (at !== null) state.index.contacts.schedule(agentId, at);
  }
  for (const key of due) {
    const at = actualDeadline(state, key);
    if (at !== null && at > context.now) state.deadlines.schedule(key, at);
  }
  if (verb === "claim" || verb === "heartbeat" || verb === "wait")
    enact(recordContact(state, { ...(input as asked.ClaimRequest), by: verb }, context));
  const answer = enact(decide(state, verb, input, context));
  enact(offerBuilds(state, context));
  return { answer, pushes };
};

/** When the pool is to be called again, even by nobody: an alarm is to be set for it. */
export const nextDue = (state: PoolState, { agentMs }: Pick<DecisionContext, "agentMs">): number | null => {
  const silence = state.index.contacts.next();
  const forgetting = silence === null ? null : silence + agentMs;
  const times = [state.deadlines.next(), state.flush.at, forgetting].filter((at) => at !== null);
  return times.length > 0 ? Math.min(...times) : null;
};

/** When the oldest hint is given up. Nothing is lost if nobody looks then: a timer is enough. */
export const nextOfferDue = (state: PoolState): number | null => state.index.offerDeadlines.next();
