import type { Build } from "../../protocol/build.ts";
import type { JobOfBuild } from "../../protocol/build-job.ts";
import type { Explanation } from "../../protocol/explain.ts";
import { requirementsOf } from "../components/why-waiting.tsx";
import { JobList } from "./job-list.tsx";
import type { JobDetails } from "./read-job-details.ts";

/** Names the job whose failure ended the build as failed: the first. */
export const FirstFailed = ({ jobs }: { jobs: JobOfBuild[] }) => {
  const [first] = jobs
    .filter(({ status, mayFail }) => status === "failed" && !mayFail)
    .sort((left, right) => Date.parse(left.finishedAt ?? "") - Date.parse(right.finishedAt ?? ""));
  return first ? (
    <span>
      in <a href={`/app/jobs/${first.id}`}>{first.key}</a>
    </span>
  ) : null;
};

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
