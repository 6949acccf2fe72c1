import { formatDay, formatDuration, formatRelative } from "./format.ts";

const exact = (at: string): string => at.replace("T", " ").replace(/\.\d+Z$/, " UTC");

/** A time as `12 min ago`, which the page's script keeps current; the exact time is its title. */
export const RelativeTime = ({ at, now }: { at: string; now: Date }) => (
  <time datetime={at} title={exact(at)} data-ago>
    {formatRelative(Date.parse(at), now.getTime())}
  </time>
);

/** The day of a time, in UTC, as `today` or `3 d ago`: of what is known to the day. */
export const RelativeDay = ({ at, now }: { at: string; now: Date }) => (
  <time datetime={at.slice(0, 10)} title={`${at.slice(0, 10)} UTC`}>
    {formatDay(Date.parse(at), now.getTime())}
  </time>
);

/** The exact time: in UTC, and by the page's script as the clock of the person shows it. */
export const ClockTime = ({ at }: { at: string }) => (
  <time datetime={at} title={exact(at)} data-clock>
    {exact(at)}
  </time>
);

/** The time from start to end. Without an end, the page's script keeps counting. */
export const Elapsed = ({ from, to, now }: { from: string; to: string | null; now: Date }) => {
  const end = to === null ? now.getTime() : Date.parse(to);
  return (
    <time datetime={from} title={`since ${exact(from)}`} class="took" data-since={to === null ? from : undefined}>
      {formatDuration(end - Date.parse(from))}
    </time>
  );
};
