import { apply } from "../state/apply.ts";
import { earliest, nextDeadline, rescheduleEarly, settleLeases, takeDue } from "../state/deadlines.ts";
import { type Decision, type DecisionContext, decided, type Push } from "../state/decision.ts";
import { CHANNELS, type Change } from "../state/facts.ts";
import { recordDelivery } from "../state/outbox.ts";
import { REMEMBER_MS, REVOKED_MS } from "../state/rules.ts";
import type { PoolState } from "../state/state.ts";
import * as agents from "./agents.ts";
import { type ContactKind, recordContact } from "./agents.ts";
import { arrive } from "./arrive.ts";
import { discardArtifact, keepArtifact, openArtifact, removeArtifact } from "./artifacts.ts";
import { cancel, flagLeak } from "./cancel.ts";
import { claim, deliver, failClaim, unclaim } from "./claim.ts";
import type { ClaimRequest, Result } from "./commands.ts";
import { deleteBuild } from "./delete.ts";
import { enqueue } from "./enqueue.ts";
import { decideGate } from "./gates.ts";
import { HEAD_MS } from "./heads.ts";
import { offerBuilds } from "./offers.ts";
import { plan, refusePlan } from "./plan.ts";
import { reconcile } from "./reconcile.ts";
import { compare, databaseRestored, keepUnchecked, revoke } from "./sequence.ts";
import { settleBuild } from "./settle-build.ts";
import { sweep } from "./sweep.ts";
import { finish, heartbeat, progress, release, start } from "./work.ts";

interface CommandRow {
  decide: (state: PoolState, input: never, context: DecisionContext) => Decision<unknown>;
  /** Set if the caller is an agent. The pool records the agent's contact before it decides the command. */
  contact?: ContactKind;
}

/** Every command of the pool, by name. */
const COMMANDS = {
  enqueue: { decide: enqueue },
  arrive: { decide: arrive },
  claim: { decide: claim, contact: "claim" },
  deliver: { decide: deliver },
  unclaim: { decide: unclaim },
  failClaim: { decide: failClaim },
  start: { decide: start },
  heartbeat: { decide: heartbeat, contact: "heartbeat" },
  progress: { decide: progress },
  release: { decide: release },
  finish: { decide: finish },
  cancel: { decide: cancel },
  plan: { decide: plan },
  refusePlan: { decide: refusePlan },
  decideGate: { decide: decideGate },
  flagLeak: { decide: flagLeak },
  openArtifact: { decide: openArtifact },
  keepArtifact: { decide: keepArtifact },
  discardArtifact: { decide: discardArtifact },
  removeArtifact: { decide: removeArtifact },
  deleteBuild: { decide: deleteBuild },
  recordDelivery: { decide: recordDelivery },
  compare: { decide: compare },
  reconcile: { decide: reconcile },
  databaseRestored: { decide: databaseRestored },
  revoke: { decide: revoke },
  registerAgent: { decide: agents.register },
  updateAgent: { decide: agents.update },
  removeAgent: { decide: agents.remove },
  removeAgentsOf: { decide: agents.removeRegistered },
  authenticateAgent: { decide: agents.authenticate },
  wait: { decide: agents.wait, contact: "wait" },
  leave: { decide: agents.leave },
  /** Decides nothing, because every step first ends what is overdue. */
  sweep: { decide: (_state: PoolState, _: null, _context: DecisionContext) => decided(null) },
  /** Forgets everything that nobody may request any more: builds, idempotency keys, deliveries and heads. */
  tidy: {
    decide: (_state: PoolState, _: null, { now }: DecisionContext) => {
      const times = { before: now - REMEMBER_MS, revokedBefore: now - REVOKED_MS, headsBefore: now - HEAD_MS };
      return decided(null, [{ kind: "forget", ...times }]);
    },
  },
} as const satisfies Record<string, CommandRow>;

export type Command = keyof typeof COMMANDS;
type Decide<C extends Command> = (typeof COMMANDS)[C]["decide"];
export type InputOf<C extends Command> = Parameters<Decide<C>>[1];
export type OutputOf<C extends Command> = ReturnType<Decide<C>> extends Decision<infer T> ? T : never;

/** Returns the answer and the changes that the command would cause now. Reads the state and changes nothing. */
export const decide = <C extends Command>(
  state: PoolState,
  command: C,
  input: InputOf<C>,
  context: DecisionContext,
): Decision<OutputOf<C>> => {
  const row: CommandRow = COMMANDS[command];
  return row.decide(state, input as never, context) as Decision<OutputOf<C>>;
};

/** The maximum number of builds that the pool settles after one decision, because one build may end others. */
const SETTLED_AT_ONCE = 10_000;

/**
 * Ends what is overdue, records the caller's contact, decides the command, and offers builds to waiting agents.
 * `commit` receives the changes of each part in order and stores all of them in one transaction.
 * @throws what `commit` throws; callers must not use the state after that
 */
export const step = <C extends Command>(
  state: PoolState,
  command: C,
  input: InputOf<C>,
  context: DecisionContext,
  commit: (changes: readonly Change[]) => void,
): { answer: Result<OutputOf<C>>; pushes: Push[] } => {
  const pushes: Push[] = [];
  const commitAndApply = <T>(decision: Decision<T>): Result<T> => {
    const unchecked = keepUnchecked(state, decision.changes);
    const changes = unchecked.length > 0 ? [...unchecked, ...decision.changes] : decision.changes;
    if (changes.length > 0) {
      commit(changes);
      apply(state, changes);
    }
    pushes.push(...decision.pushes);
    return decision.answer;
  };
  const enact = <T>(decision: Decision<T>): Result<T> => {
    const answer = commitAndApply(decision);
    for (let rounds = 0; rounds < SETTLED_AT_ONCE && state.unsettled.size > 0; rounds++) {
      const [buildId = ""] = state.unsettled;
      state.unsettled.delete(buildId);
      commitAndApply(settleBuild(state, buildId, context));
    }
    return answer;
  };
  const due = takeDue(state, context);
  if (due) {
    enact(sweep(state, due, context));
    rescheduleEarly(state, due, context);
  }
  const { contact }: CommandRow = COMMANDS[command];
  if (contact) enact(recordContact(state, { ...(input as ClaimRequest), by: contact }, context));
  const answer = enact(decide(state, command, input, context));
  enact(offerBuilds(state, context));
  if (command === "sweep") settleLeases(state);
  return { answer, pushes };
};

/** Returns when the pool needs its next step, even without a call. The object sets its alarm for this time. */
export const nextDue = (state: PoolState, { agentMs }: Pick<DecisionContext, "agentMs">): number | null => {
  const silence = state.index.contacts.next();
  const forgetting = silence === null ? null : silence + agentMs;
  return earliest([nextDeadline(state), forgetting, ...CHANNELS.map((channel) => state.outbox[channel].at)]);
};

/** Returns when the pool withdraws the oldest offer. A missed withdrawal loses nothing, so a timer is enough. */
export const nextOfferDue = (state: PoolState): number | null => state.index.offerDeadlines.next();
