import type { GraphJob } from "./graph.ts";

/** A place that so many holders may be in at a time. */
export interface Room {
  key: string;
  limit: number;
  /** The id of the build, or of the job, that is in the room. */
  holder: string;
}

interface BuildInRooms {
  id: string;
  repoId: string;
  pipelineId: string | null;
  maxParallel: number | null;
}

/** The rooms that a job has to be in while it is leased. */
export const roomsOf = (job: GraphJob, { id, repoId, pipelineId, maxParallel }: BuildInRooms): Room[] => [
  ...(pipelineId !== null && maxParallel !== null
    ? [{ key: `pipeline ${pipelineId}`, limit: maxParallel, holder: id }]
    : []),
  ...(job.maxParallel !== null
    ? [{ key: `matrix ${id}/${job.definition}`, limit: job.maxParallel, holder: job.id }]
    : []),
  ...(job.concurrency !== null
    ? [{ key: `group ${repoId}/${job.concurrency.group.toLowerCase()}`, limit: job.concurrency.limit, holder: job.id }]
    : []),
];

export const smallest = (limits: readonly number[]): number => Math.min(...limits);
