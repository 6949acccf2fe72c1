import type { PipelineHistory } from "../../protocol/pipeline-history.ts";
import { formatDuration } from "../format-time.ts";
import { Bars, barOf } from "./bars.tsx";

/** The last builds of a pipeline, and what its week was like in one line. Nothing where none has ended. */
export const LastBuilds = ({ history: { pipelineId, repoId, name, builds, week } }: { history: PipelineHistory }) => {
  if (builds.length === 0) return null;
  const { succeeded, failed, canceled, tookSeconds } = week;
  return (
    <section class="part" aria-labelledby="last-builds">
      <h2 id="last-builds">Last builds</h2>
      <Bars bars={builds.map(barOf).reverse()} label={`Last builds of ${name}`} />
      <p class="hint">
        This week {succeeded} succeeded, {failed} failed, {canceled} canceled
        {tookSeconds && `; half of them took at most ${formatDuration(tookSeconds.p50 * 1000)}`}.{" "}
        <a href={`/app/builds?${new URLSearchParams({ repoId, pipelineId })}`}>All its builds</a>
      </p>
    </section>
  );
};
