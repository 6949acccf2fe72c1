import type { Metrics } from "../../protocol/metrics.ts";
import { withCommas } from "../../protocol/units.ts";
import { count, formatDuration } from "../parts/format.ts";
import { requirementsInWords } from "../parts/why-waiting.tsx";
import { AGENT_STATES, type AgentState } from "./agent-list.ts";

/** A rectangle in the grid. All four values are in cells. */
interface CellRect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/**
 * Returns the cells from `from` to before `to`, in a grid that is filled row by row. They are at most three rectangles.
 */
export const cellRects = (from: number, to: number, columns: number): CellRect[] => {
  const rects: CellRect[] = [];
  const add = (start: number, end: number, rows: number) => {
    if (end > start && rows > 0)
      rects.push({ x: start % columns, y: Math.floor(start / columns), width: (end - start) / rows, height: rows });
  };
  const firstEnd = Math.min(to, Math.ceil(from / columns) * columns);
  add(from, firstEnd, 1);
  const wholeEnd = Math.max(firstEnd, Math.floor(to / columns) * columns);
  add(firstEnd, wholeEnd, (wholeEnd - firstEnd) / columns);
  add(wholeEnd, to, 1);
  return rects;
};

/** The maximum number of cells in a row, and the pixels from one cell to the next. A smaller fleet has larger cells. */
const ROWS = [
  { most: 40, columns: 40, pitch: 24 },
  { most: 400, columns: 80, pitch: 12 },
  { most: Number.POSITIVE_INFINITY, columns: 120, pitch: 8 },
];
const GAP = 2;

/** Draws a cell. Its shape also shows the state: whole, framed, half, or a ring. */
const Cell = ({ state, side }: { state: AgentState; side: number }) => (
  <>
    <rect class={`cell is-${state}`} x="1" y="1" width={side} height={side} rx="2" />
    {state === "draining" && <rect class="cell-half" x="1" y="1" width={side / 2} height={side} rx="2" />}
  </>
);

interface AgentStripProps {
  counts: Map<AgentState, number>;
  /** Returns the address that opens when a person clicks a state's agents. */
  addressFor(state: AgentState): string;
}

/**
 * Shows every agent as a cell, by state. A few rectangles filled with a pattern represent thousands of agents. The
 * counts below the cells say the same in words.
 */
export const AgentStrip = ({ counts, addressFor }: AgentStripProps) => {
  const total = [...counts.values()].reduce((sum, one) => sum + one, 0);
  const { columns, pitch } = ROWS.find(({ most }) => total <= most) ?? ROWS[0]!;
  const width = Math.min(columns, Math.max(total, 1)) * pitch;
  let at = 0;
  return (
    <svg
      class="agent-strip"
      viewBox={`0 0 ${width} ${Math.ceil(total / columns) * pitch}`}
      width={width}
      aria-hidden="true"
    >
      {AGENT_STATES.map((state) => (
        <pattern id={`cell-${state}`} width={pitch} height={pitch} patternUnits="userSpaceOnUse">
          <Cell state={state} side={pitch - GAP} />
        </pattern>
      ))}
      {AGENT_STATES.map((state) => {
        const from = at;
        at += counts.get(state) ?? 0;
        return at === from ? null : (
          <a href={addressFor(state)} tabindex={-1}>
            <title>{`${count(at - from, "agent")} ${state}`}</title>
            {cellRects(from, at, columns).map(({ x, y, width, height }) => (
              <rect
                x={x * pitch}
                y={y * pitch}
                width={width * pitch}
                height={height * pitch}
                fill={`url(#cell-${state})`}
              />
            ))}
          </a>
        );
      })}
    </svg>
  );
};

type Need = Metrics["byRequirement"][number];

const GROUPS = 20;

/** Describes the number of agents that could run the builds. */
const takersInWords = ({ agents, idle }: Need): string => {
  if (agents === 0) return "no matching agent online";
  return idle > 0 ? `${count(agents, "agent")}, ${idle} idle` : `${count(agents, "agent")}, all busy`;
};

/** Shows the waiting jobs, grouped by requirement. The requirement with the longest wait comes first. */
export const QueuePanel = ({ metrics: { builds, oldestWaitSeconds, byRequirement } }: { metrics: Metrics }) => {
  const needs = byRequirement
    .filter(({ waiting }) => waiting > 0)
    .sort((left, right) => right.oldestWaitSeconds - left.oldestWaitSeconds);
  return (
    <section class="queue" aria-labelledby="queue">
      <h2 id="queue">Queue</h2>
      {needs.length === 0 ? (
        <p class="hint">No builds are waiting for an agent.</p>
      ) : (
        <>
          <p>
            <a href="/app/builds?status=queued">{count(builds.waiting, "build")} waiting</a>, the oldest for{" "}
            {formatDuration(oldestWaitSeconds * 1000)}.
          </p>
          <ol class="rows">
            {needs.slice(0, GROUPS).map((need) => (
              <li class={need.agents === 0 ? "row need is-stuck" : "row need"}>
                <strong>{requirementsInWords(need.requires).join(", ") || "Any agent"}</strong>
                <span>
                  {withCommas(need.waiting)} waiting, {formatDuration(need.oldestWaitSeconds * 1000)}
                </span>
                <span class="hint">{takersInWords(need)}</span>
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
};
