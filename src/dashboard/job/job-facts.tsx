import type { BuildJob } from "../../protocol/job-record.ts";
import type { FoundBuild } from "../../services/builds/builds.ts";
import { TestsLine } from "../build/tests.tsx";
import { BuildName } from "../parts/build-name.tsx";
import { CommaList, Table } from "../parts/lists.tsx";
import { StateWord } from "../parts/state.tsx";
import { Elapsed } from "../parts/time.tsx";
import { hasLostAttempts, jobStateOf, jobTriesInWords } from "./arrange.ts";
import { explainEnd } from "./cause.tsx";
import type { JobDetails } from "./details.ts";

/** Returns the anchor of a needed job on the build's page. */
const anchorInBuild = (need: string, { jobs }: FoundBuild): string => {
  const job = jobs.find(({ definition }) => definition === need);
  return job && job.matrix === null ? `j-${job.id}` : `m-${need}`;
};

const Needs = ({ job, build }: { job: BuildJob; build: FoundBuild }) =>
  job.needs.length === 0 ? null : (
    <span>
      after{" "}
      <CommaList
        items={job.needs.map((need) => (
          <a href={`/app/builds/${build.id}#${encodeURIComponent(anchorInBuild(need, build))}`}>{need}</a>
        ))}
      />
    </span>
  );

const Combination = ({ matrix }: BuildJob) =>
  Object.entries(matrix ?? {}).map(([axis, value]) => (
    <span>
      <bdi>{axis}</bdi> <code>{String(value)}</code>
    </span>
  ));

/** Shows a job's state, its build, the reason for its end, who ran it and which jobs it needs. */
export const JobFactList = ({ details, testsPage }: { details: JobDetails; testsPage: string }) => {
  const { run: job, build, agent, now } = details;
  const why = explainEnd(job);
  const tries = jobTriesInWords(job);
  return (
    <div class="facts">
      <StateWord state={jobStateOf(job)} />
      {job.startedAt && <Elapsed from={job.startedAt} to={job.finishedAt} now={now} />}
      {why && job.status !== "failed" && <span>{why}</span>}
      <TestsLine tests={job.tests} href={testsPage} />
      <span>
        in <BuildName number={build.number} href={`/app/builds/${build.id}`} {...details} />
      </span>
      {job.mayFail && <span>may fail</span>}
      <Combination {...job} />
      {agent && (
        <span>
          on <bdi>{agent.name}</bdi>
        </span>
      )}
      {tries && <span>{tries}</span>}
      {hasLostAttempts(job) && <span>attempt {job.attempt}</span>}
      <Needs job={job} build={build} />
      {job.adoptedFrom && (
        <span>
          result from <a href={`/app/builds/${job.adoptedFrom}`}>an earlier build</a>
        </span>
      )}
    </div>
  );
};

/** Shows the outputs that the job passed to its dependents. */
export const JobOutputs = ({ outputs }: Pick<BuildJob, "outputs">) => {
  const entries = Object.entries(outputs);
  return entries.length === 0 ? null : (
    <section class="part" id="outputs">
      <h2>Outputs</h2>
      <Table columns={["Name", "Value"]}>
        {entries.map(([name, value]) => (
          <tr>
            <td>
              <code>{name}</code>
            </td>
            <td>
              <pre class="output">{value}</pre>
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
};
