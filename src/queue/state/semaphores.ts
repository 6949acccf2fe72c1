import { refOf } from "../../domain/git-ref.ts";
import type { GraphJob, JobGraph } from "../../pipeline/graph/graph.ts";
import type { BuildFacts, JobEntry } from "./facts.ts";
import { trustOf } from "./trust.ts";

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
const groupsKey = (repoId: string, ownRef: string | null): string =>
  ownRef === null ? `group ${repoId}` : `group untrusted ${repoId} ${ownRef}`;

/** The semaphores that a job holds while it is leased. */
export const plannedSemaphores = (
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
          key: `${groupsKey(repoId, ownRef)}/${job.concurrency.group.toLowerCase()}`,
          limit: job.concurrency.limit,
          holder: job.id,
        },
      ]
    : []),
];

/** Those who hold a semaphore. */
export interface Holders {
  readonly size: number;
  has(holder: string): boolean;
}

interface Holding {
  count: number;
  limit: number | null;
}

const NOBODY: ReadonlyMap<string, Holding> = new Map();

/** Who holds each semaphore by a lease (`held`), and who by a lease or an open offer (`taken`). */
export class Semaphores {
  readonly #byLease = new Map<string, Map<string, Holding>>();
  readonly #byLeaseOrOffer = new Map<string, Map<string, Holding>>();

  holders(key: string): ReadonlyMap<string, Holding> {
    return this.#byLease.get(key) ?? NOBODY;
  }

  holdersAndOffers(key: string): ReadonlyMap<string, Holding> {
    return this.#byLeaseOrOffer.get(key) ?? NOBODY;
  }

  /** By a lease. */
  countLease(semaphore: Semaphore, by: 1 | -1): void {
    count(this.#byLease, semaphore, by);
    count(this.#byLeaseOrOffer, semaphore, by);
  }

  /** By an offer. */
  take(semaphore: Semaphore, by: 1 | -1): void {
    count(this.#byLeaseOrOffer, semaphore, by);
  }
}

const count = (semaphores: Map<string, Map<string, Holding>>, { key, holder, limit }: Semaphore, by: 1 | -1): void => {
  const holders = semaphores.get(key) ?? new Map<string, Holding>();
  const sum = (holders.get(holder)?.count ?? 0) + by;
  if (sum === 0) holders.delete(holder);
  else holders.set(holder, { count: sum, limit });
  if (holders.size === 0) semaphores.delete(key);
  else semaphores.set(key, holders);
};

/** The ref to which the concurrency groups of an untrusted build belong; null for those of the repository. */
export const groupRef = (build: Pick<BuildFacts, "trust" | "branch">): string | null =>
  trustOf(build) === "untrusted" ? refOf(build.branch) : null;

/** The semaphore that a build holds while it counts for its pipeline's limit: its jobs hold it together. */
export const semaphoresOfBuild = ({ id, pipelineId, maxParallel }: BuildFacts): Semaphore[] =>
  pipelineId === null ? [] : [{ key: `pipeline ${pipelineId}`, limit: maxParallel, holder: id }];

/** What a job holds while it is leased: the semaphore of its build, that of its matrix, and that of its group. */
export const semaphoresOfJob = (
  { graphs }: { graphs: ReadonlyMap<string, JobGraph> },
  { build, job }: JobEntry,
): Semaphore[] => {
  const { id, repoId, maxParallel } = build;
  const graphJob = graphs.get(id)?.jobs[job.index];
  const ownSemaphores =
    graphJob && plannedSemaphores(graphJob, { id, repoId, pipelineId: null, maxParallel, ownRef: groupRef(build) });
  return [...semaphoresOfBuild(build), ...(ownSemaphores ?? [])];
};
