import type { BuildReason, Step } from "../../protocol/build.ts";
import { type BuildStatus, type Phase, phaseOf } from "../../protocol/build-states.ts";
import type { ShownJobState } from "../job/arrange.ts";
import type { Child } from "../shell/markup.ts";

type State = BuildStatus | Step["status"] | ShownJobState;

/** The appearance of a state, which always has a shape, a word and a colour together. */
interface Look {
  word: string;
  /** A colour of `states.css`: `tone-good` and so on. */
  tone: "plain" | "good" | "bad" | "busy" | "still" | "gate";
  shape: Child;
  turns?: true;
}

const DISC = <circle cx="8" cy="8" r="7.5" class="disc" />;
const RING = <circle cx="8" cy="8" r="5.5" />;
const TRACK = <circle cx="8" cy="8" r="5.5" class="track" />;
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
const ARC = (
  <>
    {TRACK}
    <path d="M8 2.5A5.5 5.5 0 0 1 13.5 8" class="arc" />
  </>
);
const TICK = (
  <>
    {DISC}
    <path d="M5 8.3l2.2 2.2L11.2 6" />
  </>
);
const CROSS = (
  <>
    {DISC}
    <path d="M5.7 5.7l4.6 4.6M10.3 5.7l-4.6 4.6" />
  </>
);
const GATE = <path d="M2 3.5h12M3 6.5h10M3.5 6.5V13M6.5 6.5V13M9.5 6.5V13M12.5 6.5V13" />;

const LOOKS: Record<State, Look> = {
  queued: { word: "waiting", tone: "plain", shape: RING },
  waiting: { word: "waiting", tone: "plain", shape: RING },
  asking: { word: "waiting for approval", tone: "gate", shape: GATE },
  pending: { word: "waiting", tone: "plain", shape: RING },
  assigned: { word: "assigned", tone: "busy", shape: DOT },
  running: { word: "running", tone: "busy", shape: ARC, turns: true },
  canceling: { word: "canceling", tone: "busy", shape: BAR },
  canceled: { word: "canceled", tone: "still", shape: BAR },
  dropped: { word: "dropped", tone: "still", shape: <path d="M8 3v9M4.5 8.5L8 12l3.5-3.5" /> },
  skipped: { word: "skipped", tone: "still", shape: <path d="M4 8h8" /> },
  succeeded: { word: "succeeded", tone: "good", shape: TICK },
  failed: { word: "failed", tone: "bad", shape: CROSS },
};

export const StateIcon = ({ state }: { state: State }) => {
  const { tone, shape, turns } = LOOKS[state];
  return (
    <svg class={`state tone-${tone}${turns ? " turning" : ""}`} viewBox="0 0 16 16" aria-hidden="true">
      {shape}
    </svg>
  );
};

export const StateWord = ({ state }: { state: State }) => (
  <span class={`state-word tone-${LOOKS[state].tone}`}>
    <StateIcon state={state} />
    {LOOKS[state].word}
  </span>
);

export const wordOf = (state: State): string => LOOKS[state].word;

/** For each phase, whether a build in it waits for its turn. If so, pages say why, and show no log. */
const WAITS: Record<Phase, boolean> = { queued: true, leased: false, ended: false };

export const isWaiting = (status: BuildStatus): boolean => WAITS[phaseOf(status)];

const REASONS: Record<BuildReason, string> = {
  "agent-lost": "lost its agents too often",
  timeout: "timed out",
  environment: "environment could not be assembled",
  "requirements-unmet": "no agent meets the requirements in its file",
  "commit-not-on-branch": "commit is not on the branch",
  "pipeline-invalid": "invalid pipeline file",
  "checkout-failed": "checkout failed",
  "agent-error": "agent error",
  "plan-mismatch": "the commit's file differs from the planned one",
  "queue-full": "queue is full",
  "output-refused": "an output contains a secret or is too large",
  "artifact-failed": "an artifact could not be stored or fetched",
  "gate-closed": "rejected, or not approved in time",
  canceled: "canceled",
  "fail-fast": "another job failed",
  superseded: "newer commit",
  skipped: "its file has no trigger for this change",
};

/** The facts about the end of a build or a job. */
interface Ended {
  status: string;
  reason: BuildReason | null;
  exitCode: number | null;
  steps?: Step[];
}

/**
 * Returns the word for a build that ended without a person's request, such as superseded or skipped; null for any other
 * build.
 */
export const unaskedEnd = ({ status, reason }: Ended): string | null =>
  status === "canceled" && (reason === "superseded" || reason === "skipped") ? reason : null;

/**
 * Explains in a few words why a build failed or ended without a request; null for other builds, or if the cause is
 * unknown.
 */
export const whyEnded = (ended: Ended): string | null => {
  const { status, reason, exitCode, steps = [] } = ended;
  if (reason && unaskedEnd(ended)) return REASONS[reason];
  if (status !== "failed") return null;
  if (reason && reason !== "canceled") return REASONS[reason];
  const failed = steps.find((step) => step.status === "failed");
  if (exitCode === null) return null;
  return failed ? `exit ${exitCode} in "${failed.name}"` : `exit ${exitCode}`;
};
