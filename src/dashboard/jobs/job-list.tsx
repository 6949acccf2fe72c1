import type { Child } from "hono/jsx";
import type { JobOfBuild } from "../../protocol/build-job.ts";
import { StateIcon, wordOf } from "../components/state.tsx";
import { Elapsed } from "../components/time.tsx";
import { count } from "../count.ts";
import {
  columnsOf,
  type Definition,
  labelOf,
  openNeeds,
  opensAtFirst,
  shareCause,
  stateOf,
  statesOf,
} from "./arrange.ts";
import { whyOf } from "./cause.tsx";
import { hasLostAttempts, triesOf } from "./tries.ts";

/** What rows show beside the jobs themselves. */
export interface JobNames {
  now: Date;
  /** Names of agents by their ids. */
  agents: Map<string, string>;
  /** Numbers of the builds that results were taken over from, by their ids. */
  adopted: Map<string, number>;
}

const listed = (names: string[]): Child =>
  names.map((name, index) => (
    <>
      {index > 0 && ", "}
      <bdi>{name}</bdi>
    </>
  ));

const Adopted = ({ from, names }: { from: string; names: JobNames }) => {
  const number = names.adopted.get(from);
  return (
    <a href={`/app/builds/${from}`}>{number === undefined ? "taken from an earlier build" : `of build ${number}`}</a>
  );
};

/** What the job waits for, who runs it, or why it ended so. */
const JobNote = ({ job, all, names }: { job: JobOfBuild; all: JobOfBuild[]; names: JobNames }) => {
  const state = stateOf(job);
  if (job.adoptedFrom) return <Adopted from={job.adoptedFrom} names={names} />;
  if (state === "asking") return <a href={`#gate-${job.id}`}>waits for approval</a>;
  if (state === "queued") return triesOf(job) ?? "waits for its turn";
  if (state === "waiting") {
    const needs = openNeeds(job, all);
    return needs.length > 0 ? <>after {listed(needs)}</> : null;
  }
  const why = whyOf(job);
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

interface RowProps {
  job: JobOfBuild;
  of: Definition;
  all: JobOfBuild[];
  names: JobNames;
}

const JobRow = ({ job, of, all, names }: RowProps) => (
  <li id={`j-${job.id}`} class="job" data-row>
    <StateIcon state={stateOf(job)} />
    <a href={`/app/jobs/${job.id}`} class="what">
      <span class="sr">{wordOf(stateOf(job))} </span>
      <bdi>{labelOf(job, of)}</bdi>
    </a>{" "}
    {job.startedAt && <Elapsed from={job.startedAt} to={job.finishedAt} now={names.now} />}
    <span class="job-note">
      {" "}
      {job.mayFail && <span class="label">may fail</span>} <JobNote job={job} all={all} names={names} />
      {job.status !== "queued" && triesOf(job) && <span class="label">{triesOf(job)}</span>}
      {hasLostAttempts(job) && <span> attempt {job.attempt}</span>}
    </span>
  </li>
);

/** `1 failed, 3 succeeded`. Several states may have one word. */
const counted = (jobs: JobOfBuild[]): string =>
  [...Map.groupBy(statesOf(jobs).map(wordOf), (word) => word)]
    .map(([word, { length }]) => `${length.toLocaleString("en")} ${word}`)
    .join(", ");

/** The combinations of a matrix under the job that they are of, with how many are in which state. */
const Combinations = ({ of, all, names }: Omit<RowProps, "job">) => {
  const { jobs } = of;
  const [first] = jobs;
  const opens = opensAtFirst(jobs);
  return (
    <li class="job-matrix" data-row>
      <details id={`m-${of.key}`} data-opens={opens ? "" : undefined} open={opens}>
        <summary>
          <StateIcon state={statesOf(jobs)[0] ?? "waiting"} /> <bdi class="what">{of.key}</bdi>{" "}
          <span class="hint fold">{count(jobs.length, "job")}</span>{" "}
          <span class="job-note">
            {counted(jobs)}
            {first && shareCause(jobs) && (
              <span class="job-why">
                {" "}
                <JobNote job={first} all={all} names={names} />
              </span>
            )}
          </span>
        </summary>
        <ol class="job-column">
          {jobs.map((job) => (
            <JobRow job={job} of={of} all={all} names={names} />
          ))}
        </ol>
      </details>
    </li>
  );
};

/** The jobs of a build by depth, combinations folded: columns, or on a phone one list in topological order. */
export const JobList = ({ jobs, names }: { jobs: JobOfBuild[]; names: JobNames }) => (
  <section class="jobs" aria-labelledby="jobs-heading">
    <h2 id="jobs-heading">
      {count(jobs.length, "job")} <span class="hint">{counted(jobs)}</span>
    </h2>
    <ol class="job-columns" id="jobs">
      {columnsOf(jobs).map((definitions) => (
        <li>
          <ol class="job-column">
            {definitions.map((of) => {
              const [job] = of.jobs;
              return job?.matrix ? (
                <Combinations of={of} all={jobs} names={names} />
              ) : (
                job && <JobRow job={job} of={of} all={jobs} names={names} />
              );
            })}
          </ol>
        </li>
      ))}
    </ol>
  </section>
);
