import type { AgentRun } from "../../protocol/agent-run.ts";
import { formatDuration } from "../parts/format-time.ts";
import { wordOf } from "../parts/state.tsx";

/** `#84 acme/shop / ci`, or `#84 acme/shop / ci, lint`; the number alone where the pipeline has no name yet. */
export const nameOfRun = ({ number, pipelineId, jobKey }: AgentRun, pipelines: ReadonlyMap<string, string>): string => {
  const build = [`#${number}`, pipelines.get(pipelineId ?? "")].filter(Boolean).join(" ");
  return [build, jobKey].filter(Boolean).join(", ");
};

export const addressOfRun = ({ buildId, jobId }: AgentRun): string =>
  jobId === null ? `/app/builds/${buildId}` : `/app/jobs/${jobId}`;

/** `#84 acme/shop / ci, succeeded, 41s`. */
export const titleOfRun = (run: AgentRun, pipelines: ReadonlyMap<string, string>, now: Date): string => {
  const took = formatDuration((run.finishedAt ?? now.getTime()) - run.startedAt);
  return `${nameOfRun(run, pipelines)}, ${wordOf(run.status)}, ${took}`;
};
