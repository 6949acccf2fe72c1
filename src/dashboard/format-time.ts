const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const two = (number: number): string => String(number).padStart(2, "0");

/** Milliseconds as `<1s`, `48s`, `1m 04s`, `2h 05m` or `3d 04h`. */
export const formatDuration = (milliseconds: number): string => {
  const all = Math.max(0, milliseconds);
  if (all < SECOND) return "<1s";
  if (all < MINUTE) return `${Math.floor(all / SECOND)}s`;
  if (all < HOUR) return `${Math.floor(all / MINUTE)}m ${two(Math.floor((all % MINUTE) / SECOND))}s`;
  if (all < DAY) return `${Math.floor(all / HOUR)}h ${two(Math.floor((all % HOUR) / MINUTE))}m`;
  return `${Math.floor(all / DAY)}d ${two(Math.floor((all % DAY) / HOUR))}h`;
};

/** How long ago, or in how long, as a person says it. */
export const formatRelative = (then: number, now: number): string => {
  const away = Math.abs(now - then);
  if (away < 45 * SECOND) return then > now ? "in a moment" : "just now";
  const [count, unit] =
    away < HOUR
      ? [Math.round(away / MINUTE), "min"]
      : away < DAY
        ? [Math.round(away / HOUR), "h"]
        : [Math.round(away / DAY), "d"];
  return then > now ? `in ${count} ${unit}` : `${count} ${unit} ago`;
};
