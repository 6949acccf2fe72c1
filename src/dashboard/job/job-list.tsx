import type { Step } from "../../protocol/build.ts";
import type { JobOfBuild } from "../../protocol/build-job.ts";
import { withCommas } from "../../protocol/units.ts";
import type { ReadJob } from "../../services/builds/build-view.ts";
import { type Segment, WaterfallBar } from "../build/waterfall.tsx";
import { count } from "../parts/format.ts";
import { CommaList } from "../parts/lists.tsx";
import { StateIcon, wordOf } from "../parts/state.tsx";
import { Elapsed } from "../parts/time.tsx";
import { parseTime, type TimeAxis } from "../parts/time-axis.ts";
import {
  arrangeInColumns,
  hasLostAttempts,
  type JobsOfDefinition,
  jobLabel,
  jobStateOf,
  jobTriesInWords,
  openNeeds,
  opensAtFirst,
  shareCause,
  sortStates,
} from "./arrange.ts";
import { explainEnd } from "./cause.tsx";

/**
 * Returns the segments of a job's bar: its steps if they are known, otherwise one segment. Returns none if the job did
 * not run in this build.
 */
const toSegments = (job: JobOfBuild, steps: Step[] = []): Segment[] => {
  if (job.startedAt === null || job.adoptedFrom !== null) return [];
  const begun = steps.flatMap(({ name, status, startedAt, finishedAt }): Segment[] =>
    startedAt === null ? [] : [{ from: Date.parse(startedAt), to: parseTime(finishedAt), state: status, name }],
  );
  const [first] = begun;
  const from = Date.parse(job.startedAt);
  if (first) return [{ from, to: first.from, state: "checkout" }, ...begun];
  return [{ from, to: parseTime(job.finishedAt), state: job.status }];
};

/**
 * Returns one segment for all combinations of a matrix, from the first start to the last end. The page draws failed
 * jobs over this segment, so that the other jobs' time is not red.
 */
export const spanJobs = (jobs: readonly JobOfBuild[]): Segment[] => {
  const ran = jobs.flatMap((job) => toSegments(job));
  if (ran.length === 0) return [];
  const ends = ran.map(({ to }) => to ?? Number.POSITIVE_INFINITY);
  const [from, last] = [Math.min(...ran.map((one) => one.from)), Math.max(...ends)];
  const failed = ran.filter(({ state }) => state === "failed");
  const others = jobs.filter((job) => job.startedAt !== null && job.status !== "failed");
  const [state] = sortStates(others);
  const to = Number.isFinite(last) ? last : null;
  return state === undefined ? [{ from, to, state: "failed" }] : [{ from, to, state }, ...failed];
};

/** Returns the period from the job's approval request to the answer. */
const timeAtGate = ({ gate, finishedAt }: JobOfBuild): { from: number; to: number | null } | null =>
  gate?.since ? { from: Date.parse(gate.since), to: parseTime(gate.decision?.at ?? finishedAt) } : null;

/** The data that rows show in addition to the jobs. */
export interface JobListDetails {
  now: Date;
  /** Agents' names by id. */
  agents: Map<string, string>;
  /** The numbers of the builds whose results this build adopted, by id. */
  adopted: Map<string, number>;
}

const Adopted = ({ from, names }: { from: string; names: JobListDetails }) => {
  const number = names.adopted.get(from);
  return <a href={`/app/builds/${from}`}>{number === undefined ? "from an earlier build" : `from #${number}`}</a>;
};

/** Says what the job waits for, who runs it, or why it ended. */
const JobNote = ({ job, all, names }: { job: JobOfBuild; all: JobOfBuild[]; names: JobListDetails }) => {
  const state = jobStateOf(job);
  if (job.adoptedFrom) return <Adopted from={job.adoptedFrom} names={names} />;
  if (state === "asking") return <a href={`#gate-${job.id}`}>waiting for approval</a>;
  if (state === "queued") return jobTriesInWords(job) ?? "in the queue";
  if (state === "waiting") {
    const needs = openNeeds(job, all);
    return needs.length > 0 ? (
      <>
        after <CommaList items={needs.map((need) => <bdi>{need}</bdi>)} />
      </>
    ) : null;
  }
  const why = explainEnd(job);
  if (why) {
    return (
      <>
        {wordOf(state)}: {why}
      </>
    );
  }
  const agent = job.agentId === null ? undefined : names.agents.get(job.agentId);
  return agent === undefined ? null : <bdi>{agent}</bdi>;
};

/** The data for the rows' bars. */
interface JobTimes {
  axis: TimeAxis;
  /** The durations in the last green run, in milliseconds, by job key. */
  usual: Map<string, number>;
}

interface RowProps {
  job: ReadJob;
  definition: JobsOfDefinition;
  all: ReadJob[];
  names: JobListDetails;
  times: JobTimes;
}

const JobRow = ({ job, definition, all, names, times }: RowProps) => {
  const state = jobStateOf(job);
  const tries = job.status === "queued" ? null : jobTriesInWords(job);
  const segments = toSegments(job, job.steps);
  const atGate = timeAtGate(job);
  return (
    <li id={`j-${job.id}`} class="fall-row job" data-state={state} data-row>
      <StateIcon state={state} />
      <a href={`/app/jobs/${job.id}`} class="what">
        <span class="sr">{wordOf(state)} </span>
        <bdi>{jobLabel(job, definition)}</bdi>
      </a>{" "}
      <WaterfallBar
        axis={times.axis}
        now={names.now.getTime()}
        waitedFrom={job.queuedAt === null || job.adoptedFrom ? null : Date.parse(job.queuedAt)}
        segments={segments}
        usual={times.usual.get(job.key)}
        atGate={atGate}
      />
      <span class="fall-end">
        {job.startedAt && <Elapsed from={job.startedAt} to={job.finishedAt} now={names.now} />}
      </span>
      <span class={segments.length > 0 || atGate ? "job-note" : "job-note is-alone"}>
        {" "}
        {job.mayFail && <span class="label">may fail</span>} <JobNote job={job} all={all} names={names} />
        {tries && <span class="label">{tries}</span>}
        {hasLostAttempts(job) && <span> attempt {job.attempt}</span>}
      </span>
    </li>
  );
};

/** Returns the number of jobs in each state, such as `1 failed, 3 succeeded`. Several states may share a word. */
export const countStates = (jobs: JobOfBuild[]): string =>
  [...Map.groupBy(sortStates(jobs).map(wordOf), (word) => word)]
    .map(([word, { length }]) => `${withCommas(length)} ${word}`)
    .join(", ");

/** Shows a matrix's combinations under their definition, with the number of jobs in each state. */
const Combinations = ({ definition, all, names, times }: Omit<RowProps, "job">) => {
  const { jobs } = definition;
  const [first] = jobs;
  const opens = opensAtFirst(jobs);
  return (
    <li class="job-matrix" data-row>
      <details id={`m-${definition.key}`} data-opens={opens ? "" : undefined} open={opens}>
        <summary>
          <StateIcon state={sortStates(jobs)[0] ?? "waiting"} />{" "}
          <span class="job-name">
            <bdi class="what">{definition.key}</bdi> <span class="hint fold">{count(jobs.length, "job")}</span>
          </span>{" "}
          <WaterfallBar axis={times.axis} now={names.now.getTime()} segments={spanJobs(jobs)} />
          <span class="job-note">
            {countStates(jobs)}
            {first && shareCause(jobs) && (
              <span class="job-why">
                {" "}
                <JobNote job={first} all={all} names={names} />
              </span>
            )}
          </span>
        </summary>
        <ol class="fall-list">
          {jobs.map((job) => (
            <JobRow job={job} definition={definition} all={all} names={names} times={times} />
          ))}
        </ol>
      </details>
    </li>
  );
};

/** Shows a build's jobs in topological order. The combinations of a matrix are folded. */
export const JobList = ({ jobs, names, times }: { jobs: ReadJob[]; names: JobListDetails; times: JobTimes }) => (
  <ol class="fall-list" id="jobs" aria-label="Jobs">
    {arrangeInColumns(jobs)
      .flat()
      .map((definition) => {
        const [job] = definition.jobs;
        return job?.matrix ? (
          <Combinations definition={definition} all={jobs} names={names} times={times} />
        ) : (
          job && <JobRow job={job} definition={definition} all={jobs} names={names} times={times} />
        );
      })}
  </ol>
);
