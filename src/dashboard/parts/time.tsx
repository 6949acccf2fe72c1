import { formatDay, formatDuration, formatRelative } from "./format.ts";

const exact = (at: string): string => at.replace("T", " ").replace(/\.\d+Z$/, " UTC");

/** Shows a time as `12 min ago`, which the page's script keeps current. The title has the exact time. */
export const RelativeTime = ({ at, now }: { at: string; now: Date }) => (
  <time datetime={at} title={exact(at)} data-ago>
    {formatRelative(Date.parse(at), now.getTime())}
  </time>
);

/** Shows the UTC day of a time that is known only to the day, as `today` or `3 d ago`. */
export const RelativeDay = ({ at, now }: { at: string; now: Date }) => (
  <time datetime={at.slice(0, 10)} title={`${at.slice(0, 10)} UTC`}>
    {formatDay(Date.parse(at), now.getTime())}
  </time>
);

/** Shows the exact time in UTC. The page's script adds the person's local time. */
export const ClockTime = ({ at }: { at: string }) => (
  <time datetime={at} title={exact(at)} data-clock>
    {exact(at)}
  </time>
);

/** Shows the time from start to end. Without an end, the page's script keeps counting. */
export const Elapsed = ({ from, to, now }: { from: string; to: string | null; now: Date }) => {
  const end = to === null ? now.getTime() : Date.parse(to);
  return (
    <time datetime={from} title={`since ${exact(from)}`} class="took" data-since={to === null ? from : undefined}>
      {formatDuration(end - Date.parse(from))}
    </time>
  );
};
