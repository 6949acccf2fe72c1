import type { JobOfBuild, JobStatus } from "../../protocol/build-job.ts";
import type { ReadJob } from "../../services/builds/build-view.ts";
import { ordinal } from "../parts/format.ts";

/** A job's state on pages: its status, or `asking` while it waits for approval. */
export type ShownJobState = JobStatus | "asking";

export const jobStateOf = ({ status, gate }: JobOfBuild): ShownJobState =>
  status === "waiting" && gate && gate.since !== null && gate.decision === null ? "asking" : status;

/** The jobs of one definition in the file: a single job, or all combinations of its matrix in their order. */
export interface JobsOfDefinition {
  key: string;
  jobs: ReadJob[];
}

/** Groups the jobs by depth. Each column follows all jobs that its own jobs need. */
export const arrangeInColumns = (jobs: ReadJob[]): JobsOfDefinition[][] =>
  [...Map.groupBy(jobs, ({ depth }) => depth)]
    .sort(([left], [right]) => left - right)
    .map(([, sameDepth]) =>
      [...Map.groupBy(sameDepth, ({ definition }) => definition)].map(([key, own]) => ({ key, jobs: own })),
    );

/** The order of the states, from the state that a person looks for first to the state that requires no attention. */
const ORDER: ShownJobState[] = [
  "failed",
  "asking",
  "canceling",
  "running",
  "assigned",
  "queued",
  "waiting",
  "canceled",
  "dropped",
  "succeeded",
  "skipped",
];

/** Returns the states of these jobs, the most important state first. */
export const sortStates = (jobs: JobOfBuild[]): ShownJobState[] => {
  const place = (state: ShownJobState): number => ORDER.indexOf(state);
  return jobs.map(jobStateOf).sort((left, right) => place(left) - place(right));
};

const HAS_ENDED: Record<JobStatus, boolean> = {
  waiting: false,
  queued: false,
  assigned: false,
  running: false,
  canceling: false,
  succeeded: true,
  failed: true,
  canceled: true,
  skipped: true,
  dropped: true,
};
export const hasEnded = ({ status }: Pick<JobOfBuild, "status">): boolean => HAS_ENDED[status];

/** Reports whether no agent runs the job, because it waits for its first or its next attempt. */
export const isYetToRun = ({ status }: JobOfBuild): boolean => status === "waiting" || status === "queued";

const FELL: JobStatus[] = ["failed", "canceled", "dropped"];
const isGood = ({ status }: JobOfBuild): boolean => !FELL.includes(status);

const NEVER_RAN: ShownJobState[] = ["waiting", "skipped", "dropped", "canceled"];

/** Reports whether all jobs have the same state for the same cause. One line can then explain all of them. */
export const shareCause = (jobs: JobOfBuild[]): boolean =>
  jobs.every((job) => job.agentId === null && job.adoptedFrom === null && NEVER_RAN.includes(jobStateOf(job))) &&
  new Set(jobs.map((job) => JSON.stringify([jobStateOf(job), job.cause, job.gate?.decision ?? null]))).size === 1;

/** Reports whether a matrix opens its combinations, because a combination did not succeed and the causes differ. */
export const opensAtFirst = (jobs: JobOfBuild[]): boolean => !jobs.every(isGood) && !shareCause(jobs);

/** Returns the job's name, or its key if another job of its matrix has the same name. */
export const jobLabel = (job: JobOfBuild, { jobs }: JobsOfDefinition): string =>
  jobs.some(({ id, name }) => id !== job.id && name === job.name) ? job.key : job.name;

/** Returns the definitions that the job needs and that have not ended. */
export const openNeeds = ({ needs }: JobOfBuild, all: JobOfBuild[]): string[] =>
  needs.filter((need) => all.some((job) => job.definition === need && !hasEnded(job)));

/** Describes the tries of a job that was retried in its build. Returns null for any other job. */
export const jobTriesInWords = ({ status, retries = 0, adoptedFrom }: JobOfBuild): string | null => {
  if (retries === 0 || adoptedFrom !== null) return null;
  const nth = `${ordinal(retries + 1)} try`;
  if (status === "succeeded") return `passed on the ${nth}`;
  if (status === "failed") return `failed again on the ${nth}`;
  return status === "queued" ? `waiting for its ${nth}` : nth;
};

/** Reports whether the job has more attempts than its tries explain. Those attempts lost their agents. */
export const hasLostAttempts = ({ attempt, retries = 0 }: JobOfBuild): boolean => attempt > 1 + retries;
