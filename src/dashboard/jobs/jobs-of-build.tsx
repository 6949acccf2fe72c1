import type { Build } from "../../protocol/build.ts";
import type { JobOfBuild } from "../../protocol/build-job.ts";
import { JobList } from "./job-list.tsx";
import type { JobDetails } from "./read-job-details.ts";

/** Names the first job that failed, and says how many may fail and did. */
export const FailedJobs = ({ jobs }: { jobs: JobOfBuild[] }) => {
  const failed = jobs.filter(({ status }) => status === "failed");
  const [first] = failed
    .filter(({ mayFail }) => !mayFail)
    .sort((left, right) => Date.parse(left.finishedAt ?? "") - Date.parse(right.finishedAt ?? ""));
  const harmless = failed.filter(({ mayFail }) => mayFail).length;
  return (
    <>
      {first && (
        <span>
          in <a href={`/app/jobs/${first.id}`}>{first.key}</a>
        </span>
      )}
      {harmless > 0 && <span>{harmless} may fail, and did</span>}
    </>
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
            <bdi>{key}</bdi>: {why.message}
          </li>
        ))}
      </ul>
    </section>
  );

/** What a build of several jobs shows in place of steps and log. */
export const JobsOfBuild = ({ build, details }: { build: Build; details: JobDetails }) => (
  <>
    <Unable {...details} />
    <JobList jobs={build.jobs ?? []} names={details} />
    {build.attempt > 0 && (
      <p class="hint">
        <a href={`/app/builds/${build.id}/log`}>Log of the planning</a>
      </p>
    )}
  </>
);
