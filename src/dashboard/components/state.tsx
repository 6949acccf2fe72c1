import type { Step } from "../../protocol/build.ts";
import { type BuildStatus, type Phase, phaseOf } from "../../protocol/build-states.ts";
import type { JobState } from "../jobs/arrange.ts";

type State = BuildStatus | Step["status"] | JobState;

/** A state is always a shape, a word and a colour together. */
interface Look {
  word: string;
  /** A colour of `style/base.css`: `tone-good` and so on. */
  tone: "plain" | "good" | "bad" | "busy";
  shape: unknown;
  turns?: true;
}

const RING = <circle cx="8" cy="8" r="5.5" />;
const BAR = (
  <>
    {RING}
    <path d="M4.5 11.5l7-7" />
  </>
);
const DOT = (
  <>
    {RING}
    <circle cx="8" cy="8" r="1.5" class="dot" />
  </>
);

const PAUSE = (
  <>
    {RING}
    <path d="M6.5 6v4M9.5 6v4" />
  </>
);

const LOOKS: Record<State, Look> = {
  queued: { word: "waiting", tone: "plain", shape: RING },
  waiting: { word: "waiting", tone: "plain", shape: RING },
  asking: { word: "waits for approval", tone: "busy", shape: PAUSE },
  pending: { word: "waiting", tone: "plain", shape: RING },
  assigned: { word: "assigned", tone: "busy", shape: DOT },
  running: { word: "running", tone: "busy", shape: <path d="M13.5 8A5.5 5.5 0 1 1 8 2.5" />, turns: true },
  canceling: { word: "canceling", tone: "busy", shape: BAR },
  canceled: { word: "canceled", tone: "plain", shape: BAR },
  dropped: { word: "dropped", tone: "plain", shape: <path d="M8 3v9M4.5 8.5L8 12l3.5-3.5" /> },
  skipped: { word: "skipped", tone: "plain", shape: <path d="M4 8h8" /> },
  succeeded: { word: "succeeded", tone: "good", shape: <path d="M3 8.5l3.2 3.2L13 4.8" /> },
  failed: { word: "failed", tone: "bad", shape: <path d="M4 4l8 8M12 4l-8 8" /> },
};

/** A state that only a later release knows, from before a rollback, is shown by its name. */
const lookOf = (state: State): Look => LOOKS[state] ?? { word: state, tone: "plain", shape: RING };

export const StateIcon = ({ state }: { state: State }) => {
  const { tone, shape, turns } = lookOf(state);
  return (
    <svg class={`state tone-${tone}${turns ? " turning" : ""}`} viewBox="0 0 16 16" aria-hidden="true">
      {shape}
    </svg>
  );
};

export const StateWord = ({ state }: { state: State }) => (
  <span class={`state-word tone-${lookOf(state).tone}`}>
    <StateIcon state={state} />
    {lookOf(state).word}
  </span>
);

export const wordOf = (state: State): string => lookOf(state).word;

/** Whether a build of this phase waits for its turn: pages say why, and show no log. */
const WAITS: Record<Phase, boolean> = { queued: true, leased: false, ended: false };

export const isWaiting = (status: BuildStatus): boolean => WAITS[phaseOf(status)];
