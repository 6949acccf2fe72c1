import type { Child } from "hono/jsx";
import type { Build, Step } from "../../protocol/build.ts";
import type { Explanation } from "../../protocol/explain.ts";
import { wordOf } from "../components/state.tsx";
import { requirementsOf } from "../components/why-waiting.tsx";
import { count } from "../count.ts";
import type { TimeOfRow } from "../waterfall/times-table.tsx";
import type { UsualTimes } from "../waterfall/usual-times.ts";
import { Waterfall } from "../waterfall/waterfall.tsx";
import { stateOf } from "./arrange.ts";
import { axisOf } from "./axis-of-jobs.ts";
import { counted, JobList } from "./job-list.tsx";
import type { JobDetails } from "./read-job-details.ts";

const needed = ({ requires = {} }: Explanation) => {
  const requirements = requirementsOf(requires);
  return (
    requirements.length > 0 && (
      <>
        it needs <strong>{requirements.join(", ")}</strong>.
      </>
    )
  );
};

/** Jobs that wait although no agent is registered that could take them. */
const Unable = ({ unable }: JobDetails) =>
  unable.length === 0 ? null : (
    <section class="waits" id="unable">
      <h2>No registered agent can take</h2>
      <ul>
        {unable.map(({ key, why }) => (
          <li>
            <bdi>{key}</bdi>: {needed(why)} {why.message}
          </li>
        ))}
      </ul>
    </section>
  );

const time = (at: string | null): number | null => (at === null ? null : Date.parse(at));

const timesOf = ({ jobs }: Build, usual: UsualTimes, now: Date): TimeOfRow[] =>
  (jobs ?? []).map((job) => {
    const [queued, started] = [time(job.queuedAt), time(job.startedAt)];
    return {
      name: job.key,
      word: wordOf(stateOf(job)),
      waited: queued === null || started === null ? null : started - queued,
      took: started === null ? null : (time(job.finishedAt) ?? now.getTime()) - started,
      usual: usual.jobs.get(job.key),
    };
  });

interface JobsOfBuildProps {
  build: Build;
  details: JobDetails;
  usual: UsualTimes;
  /** The steps of jobs by their ids, where they are known. */
  steps: Map<string, Step[]>;
  told: Child;
}

/** What a build of several jobs shows in place of steps and log. */
export const JobsOfBuild = ({ build, details, usual, steps, told }: JobsOfBuildProps) => {
  const jobs = build.jobs ?? [];
  const axis = axisOf(build, usual.whole, details.now);
  return (
    <>
      <Unable {...details} />
      <Waterfall
        title={
          <>
            {count(jobs.length, "job")}: <span class="hint">{counted(jobs)}</span>
          </>
        }
        told={told}
        axis={axis}
        noun="job"
        times={timesOf(build, usual, details.now)}
      >
        <JobList jobs={jobs} names={details} times={{ axis, usual: usual.jobs, steps }} />
      </Waterfall>
      {build.attempt > 0 && (
        <p class="hint">
          <a href={`/app/builds/${build.id}/log`}>Log of the planning</a>
        </p>
      )}
    </>
  );
};
