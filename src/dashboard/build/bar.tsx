import { lengthOn, placeOn, type TimeAxis } from "./time-axis.ts";

/** A stretch of work; `to` is null while it goes on. Times are milliseconds since 1970. */
export interface Segment {
  from: number;
  to: number | null;
  state: string;
  name?: string;
}

interface BarProps {
  axis: TimeAxis;
  now: number;
  /** When it began to wait for its turn or an agent. */
  waitedFrom?: number | null;
  segments: Segment[];
  /** Milliseconds that it took in the last green run. */
  usual?: number | undefined;
  /** When somebody was asked, and answered; `to` is null while nobody did. */
  asked?: { from: number; to: number | null } | null;
}

/** A name is written into a bar that is at least so many percent long. */
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

/** One row of the waterfall: waiting, work, the notch of a gate, and where the last green run ended. */
export const WaterfallBar = ({ axis, now, waitedFrom = null, segments, usual, asked = null }: BarProps) => {
  const [first] = segments;
  const waitedTo = first?.from ?? now;
  return (
    <svg class="fall-bar" width="100%" height="20" aria-hidden="true">
      {waitedFrom !== null && waitedTo > waitedFrom && (
        <line class="wait" x1={placeOn(axis, waitedFrom)} x2={placeOn(axis, waitedTo)} y1="10" y2="10" />
      )}
      {asked && (
        <>
          <line class="asked" x1={placeOn(axis, asked.from)} x2={placeOn(axis, asked.to ?? now)} y1="10" y2="10" />
          <svg class="notch" x={placeOn(axis, asked.from)} y="4" width="12" height="12" aria-hidden="true">
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
