import type { Step } from "../../protocol/build.ts";
import type { JobOfBuild } from "../../protocol/build-job.ts";
import type { Segment } from "../waterfall/bar.tsx";
import { statesOf } from "./arrange.ts";

const time = (at: string | null): number | null => (at === null ? null : Date.parse(at));

/** What a job's bar consists of: its steps where they are known, else one stretch. Empty for one that did not run here. */
export const segmentsOf = (job: JobOfBuild, steps: Step[] = []): Segment[] => {
  if (job.startedAt === null || job.adoptedFrom !== null) return [];
  const begun = steps.flatMap(({ name, status, startedAt, finishedAt }): Segment[] =>
    startedAt === null ? [] : [{ from: Date.parse(startedAt), to: time(finishedAt), state: status, name }],
  );
  const [first] = begun;
  const from = Date.parse(job.startedAt);
  if (first) return [{ from, to: first.from, state: "checkout" }, ...begun];
  return [{ from, to: time(job.finishedAt), state: job.status }];
};

/**
 * From the first job that began to the last end: one stretch for all combinations of a matrix. Those that failed are
 * drawn over it, so that the time of the others is not red.
 */
export const spanOf = (jobs: readonly JobOfBuild[]): Segment[] => {
  const ran = jobs.flatMap((job) => segmentsOf(job));
  if (ran.length === 0) return [];
  const ends = ran.map(({ to }) => to ?? Number.POSITIVE_INFINITY);
  const [from, last] = [Math.min(...ran.map((one) => one.from)), Math.max(...ends)];
  const failed = ran.filter(({ state }) => state === "failed");
  const others = jobs.filter((job) => job.startedAt !== null && job.status !== "failed");
  const [state] = statesOf(others);
  const to = Number.isFinite(last) ? last : null;
  return state === undefined ? [{ from, to, state: "failed" }] : [{ from, to, state }, ...failed];
};

/** When somebody was asked whether the job may run, and answered. */
export const askedOf = ({ gate, finishedAt }: JobOfBuild): { from: number; to: number | null } | null =>
  gate?.since ? { from: Date.parse(gate.since), to: time(gate.decision?.at ?? finishedAt) } : null;
