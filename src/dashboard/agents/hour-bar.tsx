import { type AgentRun, RUNS_MS } from "../../protocol/agent.ts";
import { MINUTE_MS } from "../../protocol/units.ts";
import { formatDuration } from "../parts/format.ts";
import { wordOf } from "../parts/state.tsx";
import { lengthOn, placeOn, type TimeAxis } from "../parts/time-axis.ts";

/**
 * Returns `#84 acme/shop / ci`, or `#84 acme/shop / ci, lint`. If the pipeline's name is unknown, returns only the
 * number.
 */
export const runName = ({ number, pipelineId, jobKey }: AgentRun, pipelines: ReadonlyMap<string, string>): string => {
  const build = [`#${number}`, pipelines.get(pipelineId ?? "")].filter(Boolean).join(" ");
  return [build, jobKey].filter(Boolean).join(", ");
};

export const runAddress = ({ buildId, jobId }: AgentRun): string =>
  jobId === null ? `/app/builds/${buildId}` : `/app/jobs/${jobId}`;

/** Returns `#84 acme/shop / ci, succeeded, 41s`. */
const runTitle = (run: AgentRun, pipelines: ReadonlyMap<string, string>, now: Date): string => {
  const took = formatDuration((run.finishedAt ?? now.getTime()) - run.startedAt);
  return `${runName(run, pipelines)}, ${wordOf(run.status)}, ${took}`;
};

/** The axis advances in steps of this length. Between two steps, a refresh redraws nothing. */
const STEP_MS = MINUTE_MS;
/** The minimum length of a run in the bar, in percent, so that a run of one second remains visible. */
const SHORTEST = 0.6;

/** Returns one axis for all agents on a page. It spans the last 60 minutes. */
export const hourUntil = (now: Date): TimeAxis => {
  const to = Math.ceil(now.getTime() / STEP_MS) * STEP_MS;
  const quarters = [60, 45, 30, 15, 0].map((minutes) => to - minutes * MINUTE_MS);
  return { from: to - RUNS_MS, zero: to - RUNS_MS, to, ticks: quarters };
};

export interface HourProps {
  runs: readonly AgentRun[];
  /** The pipelines' names by id. */
  pipelines: ReadonlyMap<string, string>;
  now: Date;
}

/** Describes the bar for screen readers, for example as `3 succeeded, 1 failed`. */
export const runsInWords = (runs: readonly AgentRun[]): string => {
  const counts = Map.groupBy(runs, ({ status }) => wordOf(status));
  return [...counts].map(([word, { length }]) => `${length} ${word}`).join(", ");
};

/** Shows an agent's last hour on one line. Idle and offline time stays empty. */
export const HourBar = ({ runs, pipelines, now }: HourProps) => {
  if (runs.length === 0) return null;
  const axis = hourUntil(now);
  return (
    <svg class="hour-bar" width="100%" aria-hidden="true">
      {runs.map((run) => {
        const length = Number.parseFloat(lengthOn(axis, run.startedAt, run.finishedAt ?? axis.to));
        const [x, width] = [placeOn(axis, run.startedAt), `${Math.max(SHORTEST, length)}%`];
        return (
          <a href={runAddress(run)} tabindex={-1}>
            <title>{runTitle(run, pipelines, now)}</title>
            <rect class={`stretch is-${run.status}`} x={x} width={width} />
          </a>
        );
      })}
    </svg>
  );
};
