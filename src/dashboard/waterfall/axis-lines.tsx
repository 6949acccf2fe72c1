import { formatDuration } from "../format-time.ts";
import { placeOn, type TimeAxis } from "./time-axis.ts";

/** The ticks above the rows, with the time since the first work began. */
export const AxisTicks = ({ axis }: { axis: TimeAxis }) => (
  <svg class="fall-ticks" width="100%" height="18" aria-hidden="true">
    {axis.ticks.map((tick) => (
      <text x={placeOn(axis, tick)} y="12">
        {tick === axis.zero ? "0s" : formatDuration(tick - axis.zero)}
      </text>
    ))}
  </svg>
);

/** The lines of the ticks, behind all rows. */
export const AxisLines = ({ axis }: { axis: TimeAxis }) => (
  <svg class="fall-lines" width="100%" height="100%" aria-hidden="true">
    {axis.ticks.map((tick) => (
      <line x1={placeOn(axis, tick)} x2={placeOn(axis, tick)} y1="0" y2="100%" />
    ))}
  </svg>
);
