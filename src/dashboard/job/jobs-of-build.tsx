import type { JobOfBuild } from "../../protocol/build-job.ts";
import { isEnded } from "../../protocol/build-states.ts";
import type { Explanation } from "../../protocol/explain.ts";
import type { ReadBuild } from "../../services/builds/build-view.ts";
import { TimesInWords } from "../build/step-waterfall.tsx";
import { type TimeOfRow, Waterfall } from "../build/waterfall.tsx";
import { count } from "../parts/format.ts";
import { wordOf } from "../parts/state.tsx";
import { parseTime, type TimeAxis, timeAxis } from "../parts/time-axis.ts";
import { requirementsInWords } from "../parts/why-waiting.tsx";
import { jobStateOf } from "./arrange.ts";
import { Body } from "./body.tsx";
import type { JobsDetails, OpenedPage } from "./details.ts";
import { countStates, JobList } from "./job-list.tsx";

const needed = ({ requires = {} }: Explanation) => {
  const requirements = requirementsInWords(requires);
  return (
    requirements.length > 0 && (
      <>
        needs <strong>{requirements.join(", ")}</strong>.
      </>
    )
  );
};

/** Shows jobs that no registered agent can run. */
const Unable = ({ unable }: JobsDetails) =>
  unable.length === 0 ? null : (
    <section class="waits" id="unable">
      <h2>Jobs that no registered agent can run</h2>
      <ul>
        {unable.map(({ key, why }) => (
          <li>
            <bdi>{key}</bdi>: {needed(why)} {why.message}
          </li>
        ))}
      </ul>
    </section>
  );

/**
 * While a build waits only for gates, the maximum length of the wait in the chart. It is a fraction of the earlier
 * work's length.
 */
const WAIT = 1 / 3;

/** Reports whether the build waits only for people. */
const waitsForPeople = (jobs: readonly JobOfBuild[]): boolean =>
  jobs.some((job) => jobStateOf(job) === "asking") &&
  jobs.every((job) => job.finishedAt !== null || jobStateOf(job) === "asking" || jobStateOf(job) === "waiting");

/**
 * Returns the build's time axis, from the start of the first job to the end of the last. Shortens a wait for people,
 * because hours of waiting would leave no room for minutes of work.
 */
export const jobsAxis = (
  { jobs, status, queuedAt, finishedAt }: Pick<ReadBuild, "jobs" | "status" | "queuedAt" | "finishedAt">,
  usual: number | null,
  now: Date,
): TimeAxis => {
  const own = jobs.filter(({ adoptedFrom }) => adoptedFrom === null);
  const begins = own.flatMap(({ startedAt, gate }) => parseTime(startedAt ?? gate?.since ?? null) ?? []);
  const ends = own.flatMap((job) => parseTime(job.finishedAt) ?? []);
  const startedAt = begins.length > 0 ? Math.min(...begins) : null;
  const isLive = !isEnded(status);
  const shared = { queuedAt: Date.parse(queuedAt), startedAt, isLive };
  if (startedAt !== null && ends.length > 0 && isLive && waitsForPeople(jobs)) {
    const work = Math.max(...ends, ...begins) - startedAt;
    return timeAxis({ ...shared, until: Math.min(now.getTime(), startedAt + work * (1 + WAIT)), usual: null });
  }
  return timeAxis({ ...shared, until: isLive ? now.getTime() : Math.max(parseTime(finishedAt) ?? 0, ...ends), usual });
};

const toRowTimes = ({ jobs, usual, now }: JobsDetails): TimeOfRow[] =>
  jobs.map((job) => {
    const [queued, started] = [parseTime(job.queuedAt), parseTime(job.startedAt)];
    return {
      name: job.key,
      word: wordOf(jobStateOf(job)),
      waited: queued === null || started === null ? null : started - queued,
      took: started === null ? null : (parseTime(job.finishedAt) ?? now.getTime()) - started,
      usual: usual.parts.get(job.key),
    };
  });

/** Shows a build's jobs: the reason for the first failure, all jobs on one time axis, and the tabs. */
export const JobsBody = ({ details, opened }: { details: JobsDetails; opened: OpenedPage }) => {
  const { build, jobs, usual, now } = details;
  const axis = jobsAxis(build, usual.whole, now);
  return (
    <Body details={details} opened={opened}>
      <Unable {...details} />
      <Waterfall
        title={
          <>
            {count(jobs.length, "job")}: <span class="hint">{countStates(jobs)}</span>
          </>
        }
        summary={<TimesInWords run={build} usual={usual.whole} agent={null} now={now} />}
        axis={axis}
        noun="job"
        times={toRowTimes(details)}
      >
        <JobList jobs={jobs} names={details} times={{ axis, usual: usual.parts }} />
      </Waterfall>
      {build.attempt > 0 && (
        <p class="hint">
          <a href={`/app/builds/${build.id}/log`}>Planning log</a>
        </p>
      )}
    </Body>
  );
};
