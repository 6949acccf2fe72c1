import { refOf } from "../../domain/git-ref.ts";
import type { GraphJob, JobGraph } from "../../pipeline/graph/graph.ts";
import type { BuildFacts, JobEntry } from "./facts.ts";
import { trustOf } from "./trust.ts";

/** A limit on simultaneous holders, for a pipeline's builds, a matrix's jobs, or a concurrency group. */
export interface Semaphore {
  key: string;
  /** The maximum number of simultaneous holders; null if there is no limit. */
  limit: number | null;
  /** A job, or a build whose jobs share the semaphore of its pipeline. */
  holder: string;
}

interface BuildWithLimits {
  id: string;
  repoId: string;
  pipelineId: string | null;
  maxParallel: number | null;
  /** The ref to which an untrusted build's groups belong; null or absent for the repository's groups. */
  ownRef?: string | null;
}

/**
 * Returns the prefix of a group's key. No repository has the id `untrusted`, so no text in a file can merge two groups.
 */
const groupsKey = (repoId: string, ownRef: string | null): string =>
  ownRef === null ? `group ${repoId}` : `group untrusted ${repoId} ${ownRef}`;

/** Returns the semaphores that a job holds while it is leased. */
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

/** The holders of a semaphore. */
export interface Holders {
  readonly size: number;
  has(holder: string): boolean;
}

interface Holding {
  count: number;
  limit: number | null;
}

const NOBODY: ReadonlyMap<string, Holding> = new Map();

/** The holders of each semaphore: one list by lease, and one by lease or open offer. */
export class Semaphores {
  readonly #byLease = new Map<string, Map<string, Holding>>();
  readonly #byLeaseOrOffer = new Map<string, Map<string, Holding>>();

  holders(key: string): ReadonlyMap<string, Holding> {
    return this.#byLease.get(key) ?? NOBODY;
  }

  holdersAndOffers(key: string): ReadonlyMap<string, Holding> {
    return this.#byLeaseOrOffer.get(key) ?? NOBODY;
  }

  /** Counts a lease. */
  countLease(semaphore: Semaphore, by: 1 | -1): void {
    count(this.#byLease, semaphore, by);
    count(this.#byLeaseOrOffer, semaphore, by);
  }

  /** Counts an offer. */
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

/** Returns the ref to which an untrusted build's concurrency groups belong; null for the repository's groups. */
export const groupRef = (build: Pick<BuildFacts, "trust" | "branch">): string | null =>
  trustOf(build) === "untrusted" ? refOf(build.branch) : null;

/** Returns the semaphore that a build's jobs share while the build counts toward its pipeline's limit. */
export const semaphoresOfBuild = ({ id, pipelineId, maxParallel }: BuildFacts): Semaphore[] =>
  pipelineId === null ? [] : [{ key: `pipeline ${pipelineId}`, limit: maxParallel, holder: id }];

/** Returns the semaphores of a leased job: its build's, its matrix's and its group's semaphore. */
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
