import type { GraphJob } from "../../pipeline/graph/graph.ts";

/** What only so many may hold at a time: a pipeline's builds, jobs of a matrix, a concurrency group. */
export interface Semaphore {
  key: string;
  /** Holders at a time; null where there is no limit. */
  limit: number | null;
  /** A build, whose jobs hold the semaphore of its pipeline together, or a job. */
  holder: string;
}

interface BuildWithLimits {
  id: string;
  repoId: string;
  pipelineId: string | null;
  maxParallel: number | null;
  /** The ref that the groups of an untrusted build belong to; null or absent for those of the repository. */
  ownRef?: string | null;
}

/** No id of a repository is `untrusted`, so nothing that a file says makes one group of two. */
const groupsOf = (repoId: string, ownRef: string | null): string =>
  ownRef === null ? `group ${repoId}` : `group untrusted ${repoId} ${ownRef}`;

/** The semaphores that a job holds while it is leased. */
export const semaphoresOf = (
  job: GraphJob,
  { id, repoId, pipelineId, maxParallel, ownRef = null }: BuildWithLimits,
): (Semaphore & { limit: number })[] => [
  ...(pipelineId !== null && maxParallel !== null
    ? [{ key: `pipeline ${pipelineId}`, limit: maxParallel, holder: id }]
    : []),
  ...(job.maxParallel !== null
    ? [{ key: `matrix ${id}/${job.definition}`, limit: job.maxParallel, holder: job.id }]
    : []),
  ...(job.concurrency !== null
    ? [
        {
          key: `${groupsOf(repoId, ownRef)}/${job.concurrency.group.toLowerCase()}`,
          limit: job.concurrency.limit,
          holder: job.id,
        },
      ]
    : []),
];
