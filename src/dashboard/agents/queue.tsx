import type { Metrics } from "../../protocol/metrics.ts";
import { requirementsOf } from "../build/why-waiting.tsx";
import { count } from "../parts/count.ts";
import { formatDuration } from "../parts/format-time.ts";

type Need = Metrics["byRequirement"][number];

const GROUPS = 20;

/** Who could take them, in words. */
const takersOf = ({ agents, idle }: Need): string => {
  if (agents === 0) return "no online agent has that";
  return idle > 0 ? `${count(agents, "agent")}, ${idle} idle` : `${count(agents, "agent")}, all at work`;
};

/** What waits, grouped by what it needs: the need that waits for longest first. */
export const QueuePanel = ({ metrics: { builds, oldestWaitSeconds, byRequirement } }: { metrics: Metrics }) => {
  const needs = byRequirement
    .filter(({ waiting }) => waiting > 0)
    .sort((left, right) => right.oldestWaitSeconds - left.oldestWaitSeconds);
  return (
    <section class="queue" aria-labelledby="queue">
      <h2 id="queue">Queue</h2>
      {needs.length === 0 ? (
        <p class="hint">Nothing waits for an agent.</p>
      ) : (
        <>
          <p>
            <a href="/app/builds?status=queued">{count(builds.waiting, "build")} waiting</a>, the oldest for{" "}
            {formatDuration(oldestWaitSeconds * 1000)}.
          </p>
          <ol class="rows">
            {needs.slice(0, GROUPS).map((need) => (
              <li class={need.agents === 0 ? "row need is-stuck" : "row need"}>
                <strong>{requirementsOf(need.requires).join(", ") || "Any agent"}</strong>
                <span>
                  {need.waiting.toLocaleString("en")} waiting, {formatDuration(need.oldestWaitSeconds * 1000)}
                </span>
                <span class="hint">{takersOf(need)}</span>
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
};
