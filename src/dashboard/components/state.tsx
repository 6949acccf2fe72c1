import type { BuildStatus, Step } from "../../protocol/build.ts";

type State = BuildStatus | Step["status"];

const WORDS: Record<State, string> = {
  queued: "waiting",
  assigned: "assigned",
  running: "running",
  canceling: "canceling",
  succeeded: "succeeded",
  failed: "failed",
  canceled: "canceled",
  pending: "waiting",
  skipped: "skipped",
};

const RING = <circle cx="8" cy="8" r="5.5" />;
const BAR = (
  <>
    {RING}
    <path d="M4.5 11.5l7-7" />
  </>
);

/** A state is always a shape, a word and a colour together. */
const SHAPES: Record<State, unknown> = {
  queued: RING,
  pending: RING,
  assigned: (
    <>
      {RING}
      <circle cx="8" cy="8" r="1.5" class="dot" />
    </>
  ),
  running: <path d="M13.5 8A5.5 5.5 0 1 1 8 2.5" />,
  canceling: BAR,
  canceled: BAR,
  skipped: <path d="M4 8h8" />,
  succeeded: <path d="M3 8.5l3.2 3.2L13 4.8" />,
  failed: <path d="M4 4l8 8M12 4l-8 8" />,
};

export const StateIcon = ({ state }: { state: State }) => (
  <svg class={`state state-${state}`} viewBox="0 0 16 16" aria-hidden="true">
    {SHAPES[state]}
  </svg>
);

export const StateWord = ({ state }: { state: State }) => (
  <span class={`state-word state-${state}`}>
    <StateIcon state={state} />
    {WORDS[state]}
  </span>
);

export const wordOf = (state: State): string => WORDS[state];
