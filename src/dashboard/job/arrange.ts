import type { JobOfBuild, JobStatus } from "../../protocol/build-job.ts";
import type { ReadJob } from "../../services/builds/build-view.ts";
import { ordinal } from "../parts/format.ts";

/** What pages show of a job: its status, or that somebody has to approve it. */
export type ShownJobState = JobStatus | "asking";

export const jobStateOf = ({ status, gate }: JobOfBuild): ShownJobState =>
  status === "waiting" && gate && gate.since !== null && gate.decision === null ? "asking" : status;

/** What the file writes as one job: itself, or all combinations of its matrix in their order. */
export interface JobsOfDefinition {
  key: string;
  jobs: ReadJob[];
}

/** The jobs by depth: each column stands after all that its jobs need. */
export const arrangeInColumns = (jobs: ReadJob[]): JobsOfDefinition[][] =>
  [...Map.groupBy(jobs, ({ depth }) => depth)]
    .sort(([left], [right]) => left - right)
    .map(([, sameDepth]) =>
      [...Map.groupBy(sameDepth, ({ definition }) => definition)].map(([key, own]) => ({ key, jobs: own })),
    );

/** From the state that a person looks for first to the one that needs nobody. */
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

/** The states of these jobs, those that matter most first. */
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

/** Whether no agent has it yet, or has it again. */
export const isYetToRun = ({ status }: JobOfBuild): boolean => status === "waiting" || status === "queued";

const FELL: JobStatus[] = ["failed", "canceled", "dropped"];
const isGood = ({ status }: JobOfBuild): boolean => !FELL.includes(status);

const NEVER_RAN: ShownJobState[] = ["waiting", "skipped", "dropped", "canceled"];

/** Whether all of them are in the same state for the same cause, so that one line says it for all. */
export const shareCause = (jobs: JobOfBuild[]): boolean =>
  jobs.every((job) => job.agentId === null && job.adoptedFrom === null && NEVER_RAN.includes(jobStateOf(job))) &&
  new Set(jobs.map((job) => JSON.stringify([jobStateOf(job), job.cause, job.gate?.decision ?? null]))).size === 1;

/** Whether a matrix is shown with its combinations: one of them did not succeed, and not all for the same cause. */
export const opensAtFirst = (jobs: JobOfBuild[]): boolean => !jobs.every(isGood) && !shareCause(jobs);

/** A job by its name; where another of its matrix has the same name, by its key. */
export const jobLabel = (job: JobOfBuild, { jobs }: JobsOfDefinition): string =>
  jobs.some(({ id, name }) => id !== job.id && name === job.name) ? job.key : job.name;

/** The definitions among the job's needs that have not ended. */
export const openNeeds = ({ needs }: JobOfBuild, all: JobOfBuild[]): string[] =>
  needs.filter((need) => all.some((job) => job.definition === need && !hasEnded(job)));

/** What people read of a job that was tried more than once in its build; null of any other. */
export const jobTriesInWords = ({ status, retries = 0, adoptedFrom }: JobOfBuild): string | null => {
  if (retries === 0 || adoptedFrom !== null) return null;
  const nth = `${ordinal(retries + 1)} try`;
  if (status === "succeeded") return `passed on the ${nth}`;
  if (status === "failed") return `failed on the ${nth} too`;
  return status === "queued" ? `waits for its ${nth}` : nth;
};

/** Whether more attempts were started than its tries explain: agents of the others were lost. */
export const hasLostAttempts = ({ attempt, retries = 0 }: JobOfBuild): boolean => attempt > 1 + retries;
