import type { Explanation } from "../../protocol/explain.ts";
import { ToldTimes } from "../build/step-waterfall.tsx";
import { type TimeOfRow, Waterfall } from "../build/waterfall.tsx";
import { count } from "../parts/format.ts";
import { wordOf } from "../parts/state.tsx";
import { requirementsOf } from "../parts/why-waiting.tsx";
import { jobStateOf } from "./arrange.ts";
import { axisOf } from "./axis-of-jobs.ts";
import { Body } from "./body.tsx";
import type { JobsDetails, OpenedPage } from "./details.ts";
import { counted, JobList } from "./job-list.tsx";

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
const Unable = ({ unable }: JobsDetails) =>
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

const timesOf = ({ jobs, usual, now }: JobsDetails): TimeOfRow[] =>
  jobs.map((job) => {
    const [queued, started] = [time(job.queuedAt), time(job.startedAt)];
    return {
      name: job.key,
      word: wordOf(jobStateOf(job)),
      waited: queued === null || started === null ? null : started - queued,
      took: started === null ? null : (time(job.finishedAt) ?? now.getTime()) - started,
      usual: usual.parts.get(job.key),
    };
  });

/** The jobs of a build: why the first of them failed, all of them on one axis of time, and the tabs. */
export const JobsBody = ({ details, opened }: { details: JobsDetails; opened: OpenedPage }) => {
  const { build, jobs, usual, now } = details;
  const axis = axisOf(build, usual.whole, now);
  return (
    <Body details={details} opened={opened}>
      <Unable {...details} />
      <Waterfall
        title={
          <>
            {count(jobs.length, "job")}: <span class="hint">{counted(jobs)}</span>
          </>
        }
        told={<ToldTimes of={build} usual={usual.whole} agent={null} now={now} />}
        axis={axis}
        noun="job"
        times={timesOf(details)}
      >
        <JobList jobs={jobs} names={details} times={{ axis, usual: usual.parts }} />
      </Waterfall>
      {build.attempt > 0 && (
        <p class="hint">
          <a href={`/app/builds/${build.id}/log`}>Log of the planning</a>
        </p>
      )}
    </Body>
  );
};
