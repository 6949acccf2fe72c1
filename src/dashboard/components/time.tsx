import { formatDuration, formatRelative } from "../format-time.ts";

const exact = (at: string): string => at.replace("T", " ").replace(/\.\d+Z$/, " UTC");

/** A moment as a person says it, with the exact one on hover. */
export const RelativeTime = ({ at, now }: { at: string; now: Date }) => (
  <time datetime={at} title={exact(at)} data-ago>
    {formatRelative(Date.parse(at), now.getTime())}
  </time>
);

/** How long something took, or has taken so far: then it goes on counting. */
export const Elapsed = ({ from, to, now }: { from: string; to: string | null; now: Date }) => {
  const end = to === null ? now.getTime() : Date.parse(to);
  return (
    <time datetime={from} title={`since ${exact(from)}`} class="took" data-since={to === null ? from : undefined}>
      {formatDuration(end - Date.parse(from))}
    </time>
  );
};
