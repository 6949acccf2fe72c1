import type { Result } from "../../src/queue/commands/commands.ts";
import type { Push } from "../../src/queue/state/decision.ts";
import type { PoolState } from "../../src/queue/state/state.ts";
import type { AnyInput, Call, CheckContext, ObservedPause } from "./observations.ts";
import { FIRST_PAUSE_MS, MOST_PAUSE_MS } from "./specification.ts";
import { must } from "./violation.ts";

export const isPaused = (pause: ObservedPause | null, now: number): boolean => pause !== null && now < pause.until;

/** The pause after another hand-out that failed for all builds. One that began before the pause does not extend it. */
const longer = (pause: ObservedPause | null, fence: number | null, now: number): ObservedPause => {
  if (pause && pause.fence !== fence && isPaused(pause, now)) return pause;
  const failures = pause ? pause.failures + 1 : 1;
  let length = FIRST_PAUSE_MS;
  for (let doubled = 1; doubled < failures && length < MOST_PAUSE_MS; doubled++) length *= 2;
  return { failures, until: now + Math.min(length, MOST_PAUSE_MS), fence: null };
};

/** What the call reveals about the service: whether hand-outs fail for all builds, or succeed. */
const pauseAfter = (state: PoolState, pause: ObservedPause | null, answer: Result<AnyInput>, call: Call) => {
  const { command, input, now, job } = call;
  if (command === "claim" && !answer.ok) {
    const isAway = answer.refusal.kind === "unavailable" && !state.index.holding.has(input.agentId);
    return isAway ? longer(pause, null, now) : pause;
  }
  if (!answer.ok) return pause;
  if (command === "claim" && answer.value && pause) {
    const { fence, expiresAt: until } = answer.value;
    return answer.value.isAgain ? pause : { ...pause, until, fence };
  }
  if (command === "unclaim" && input.isAway) return longer(pause, job!.fence, now);
  const isAnswered = command === "unclaim" ? input.isAway === false : command === "failClaim" || command === "deliver";
  return isAnswered ? null : pause;
};

/** While hand-outs fail for all builds, nothing is handed out in each pause, and one build after it. */
export const checkPause = (
  context: CheckContext,
  state: PoolState,
  answer: Result<AnyInput>,
  pushes: readonly Push[],
): void => {
  const { observed, call } = context;
  const { command, now } = call;
  // It stays over, even if the clock is set back.
  if (observed.pause && !isPaused(observed.pause, now)) observed.pause = { ...observed.pause, until: 0 };
  const isNew = command === "claim" && answer.ok && answer.value && !answer.value.isAgain;
  must(46, !isNew || !isPaused(observed.pause, now), "a build was handed out in a pause");
  observed.pause = pauseAfter(state, observed.pause, answer, call);
  const looks = pushes.filter(({ hint }) => hint.type === "look").length;
  must(46, looks === 0 || !isPaused(observed.pause, now), "an agent got a hint in a pause");
  must(46, looks <= 1 || !observed.pause, "several agents got a hint before one hand-out worked");
};

/** The job that was tried last remembers the pause of an evicted pool. */
export const pauseAfterWake = ({ jobs }: PoolState): ObservedPause | null => {
  const kept = [...jobs.values()].flatMap(({ pause, lease }) =>
    pause ? { ...pause, fence: lease?.fence ?? null } : [],
  );
  return kept.sort((left, right) => right.until - left.until)[0] ?? null;
};
