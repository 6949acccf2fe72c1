import type { JobCounts } from "../../protocol/build.ts";
import { count } from "../count.ts";

type State = Exclude<keyof JobCounts, "total">;

/** In the order in which they are drawn: what is done, what goes on, what is to come. */
const STATES: State[] = ["succeeded", "failed", "stopped", "running", "waiting"];
/** Jobs that are drawn one by one; of more, each state is one length. */
const MOST = 24;
const GAP = 0.12;

const wordsOf = (counts: JobCounts): string =>
  STATES.filter((state) => counts[state] > 0)
    .map((state) => `${counts[state]} ${state === "stopped" ? "not run" : state}`)
    .join(", ");

/** The jobs of a build as one bar of segments: a length and a colour for each state, and the counts in words. */
export const JobSegments = ({ counts }: { counts: JobCounts }) => {
  const isEach = counts.total <= MOST;
  const lengths = STATES.flatMap((state) =>
    isEach ? Array.from({ length: counts[state] }, () => ({ state, length: 1 })) : { state, length: counts[state] },
  ).filter(({ length }) => length > 0);
  const words = `${count(counts.total, "job")}: ${wordsOf(counts)}`;
  let x = 0;
  return (
    <span class="job-segments" title={words}>
      <span class="sr">{words}</span>
      <svg viewBox={`0 0 ${Math.max(1, counts.total)} 1`} preserveAspectRatio="none" aria-hidden="true">
        {lengths.map(({ state, length }) => {
          const from = x;
          x += length;
          return <rect x={from} width={isEach ? length - GAP : length} height="1" class={`is-${state}`} />;
        })}
      </svg>
    </span>
  );
};
