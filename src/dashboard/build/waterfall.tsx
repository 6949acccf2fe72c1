import { formatDuration } from "../parts/format.ts";
import { lengthOn, placeOn, type TimeAxis } from "../parts/time-axis.ts";
import type { Child } from "../shell/markup.ts";

/** A period of work. `to` is null while it continues. Times are milliseconds since 1970. */
export interface Segment {
  from: number;
  to: number | null;
  state: string;
  name?: string;
}

interface BarProps {
  axis: TimeAxis;
  now: number;
  /** When the step or job began to wait for its turn or an agent. */
  waitedFrom?: number | null;
  segments: Segment[];
  /** The duration in the last green run, in milliseconds. */
  usual?: number | undefined;
  /** The period from the approval request until the answer. `to` is null while nobody has answered. */
  atGate?: { from: number; to: number | null } | null;
}

/** The length in percent from which a bar shows its name. */
const NAMED_FROM = 6;

const Stretch = ({ axis, now, segment }: { axis: TimeAxis; now: number; segment: Segment }) => {
  const { from, state, name } = segment;
  const to = segment.to ?? now;
  const [x, width] = [placeOn(axis, from), lengthOn(axis, from, to)];
  return (
    <>
      <rect class={`stretch is-${state}`} x={x} width={width} y="3" height="14" rx="3" />
      {segment.to === null && (
        <svg x={x} width={width} y="3" height="14" aria-hidden="true">
          <line class="current" x1="0" x2="100%" y1="7" y2="7" />
        </svg>
      )}
      {name !== undefined && Number.parseFloat(width) >= NAMED_FROM && (
        <svg x={x} width={width} y="3" height="14" aria-hidden="true">
          <text class={`stretch-name is-${state}`} x="6" y="11">
            {name}
          </text>
        </svg>
      )}
    </>
  );
};

/**
 * Shows one row of the waterfall: its wait, its work, the notch of a gate, and the point where the last green run
 * ended.
 */
export const WaterfallBar = ({ axis, now, waitedFrom = null, segments, usual, atGate = null }: BarProps) => {
  const [first] = segments;
  const waitedTo = first?.from ?? now;
  return (
    <svg class="fall-bar" width="100%" height="20" aria-hidden="true">
      {waitedFrom !== null && waitedTo > waitedFrom && (
        <line class="wait" x1={placeOn(axis, waitedFrom)} x2={placeOn(axis, waitedTo)} y1="10" y2="10" />
      )}
      {atGate && (
        <>
          <line class="asked" x1={placeOn(axis, atGate.from)} x2={placeOn(axis, atGate.to ?? now)} y1="10" y2="10" />
          <svg class="notch" x={placeOn(axis, atGate.from)} y="4" width="12" height="12" aria-hidden="true">
            <path d="M0 0l6 6-6 6-6-6z" />
          </svg>
        </>
      )}
      {segments.map((segment) => (
        <Stretch axis={axis} now={now} segment={segment} />
      ))}
      {first && usual !== undefined && (
        <line
          class="usual"
          x1={placeOn(axis, first.from + usual)}
          x2={placeOn(axis, first.from + usual)}
          y1="0"
          y2="20"
        />
      )}
    </svg>
  );
};

/** The times of one row of the waterfall, in words. Durations are in milliseconds. */
export interface TimeOfRow {
  name: string;
  word: string;
  waited: number | null;
  took: number | null;
  usual: number | undefined;
}

const inWords = (milliseconds: number | null | undefined): string =>
  milliseconds === null || milliseconds === undefined ? "" : formatDuration(milliseconds);

/** Shows the waterfall as a table for screen readers. */
const TimesTable = ({ noun, times }: { noun: "step" | "job"; times: TimeOfRow[] }) => (
  <div class="sr">
    <table id="times">
      <caption>{noun === "step" ? "Step" : "Job"} times</caption>
      <thead>
        <tr>
          {[noun === "step" ? "Step" : "Job", "State", "Waited", "Duration", "Usual duration"].map((name) => (
            <th scope="col">{name}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {times.map(({ name, word, waited, took, usual }) => (
          <tr>
            <th scope="row">
              <bdi>{name}</bdi>
            </th>
            <td>{word}</td>
            <td>{inWords(waited)}</td>
            <td>{inWords(took)}</td>
            <td>{inWords(usual)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** Shows the ticks above the rows, with the time since work began. */
const AxisTicks = ({ axis }: { axis: TimeAxis }) => (
  <svg class="fall-ticks" width="100%" height="18" aria-hidden="true">
    {axis.ticks.map((tick) => (
      <text x={placeOn(axis, tick)} y="12">
        {tick === axis.zero ? "0s" : formatDuration(tick - axis.zero)}
      </text>
    ))}
  </svg>
);

/** Draws the ticks' lines behind all rows. */
const AxisLines = ({ axis }: { axis: TimeAxis }) => (
  <svg class="fall-lines" width="100%" height="100%" aria-hidden="true">
    {axis.ticks.map((tick) => (
      <line x1={placeOn(axis, tick)} x2={placeOn(axis, tick)} y1="0" y2="100%" />
    ))}
  </svg>
);

/** The number of rows from which a field filters them. */
const FILTERED_FROM = 13;

interface WaterfallProps {
  title: Child;
  /** The times in words, at the right. */
  summary: Child;
  axis: TimeAxis;
  noun: "step" | "job";
  times: TimeOfRow[];
  /** The rows, in their own element. */
  children: Child;
}

/** The length up to which names count as short. If all are short, the bars use the rest of the names' column. */
const SHORT_NAME = 16;

/**
 * Shows where the time went, with a row for each step or job on one time axis. It also serves as the log's table of
 * contents.
 */
export const Waterfall = ({ title, summary, axis, noun, times, children }: WaterfallProps) => (
  <section class="waterfall" id="waterfall" aria-labelledby="waterfall-title">
    <div class="section-head">
      <h2 id="waterfall-title">{title}</h2>
      <p class="hint">{summary}</p>
    </div>
    <div class={times.every(({ name }) => name.length <= SHORT_NAME) ? "fall is-short" : "fall"}>
      {times.length >= FILTERED_FROM && (
        <input
          type="search"
          id="fall-filter"
          class="fall-filter scripted"
          placeholder={`Filter ${noun}s`}
          aria-label={`Filter ${noun}s`}
        />
      )}
      <div class="fall-axis">
        <AxisTicks axis={axis} />
      </div>
      <div class="fall-rows">
        <div class="fall-behind">
          <AxisLines axis={axis} />
        </div>
        {children}
      </div>
    </div>
    <TimesTable noun={noun} times={times} />
  </section>
);
