import type { Build, JobCounts } from "../../protocol/build.ts";
import { isEnded } from "../../protocol/build-states.ts";
import { withCommas } from "../../protocol/units.ts";
import { RowOrigin, refName } from "../parts/build-origin.tsx";
import { count } from "../parts/format.ts";
import { ShortName } from "../parts/short-name.tsx";
import { isWaiting, StateIcon, unaskedEnd, whyEnded, wordOf } from "../parts/state.tsx";
import { Elapsed, RelativeTime } from "../parts/time.tsx";
import type { Child } from "../shell/markup.ts";

type State = Exclude<keyof JobCounts, "total">;

/** The states in drawing order: finished, running, planned. */
const STATES: State[] = ["succeeded", "failed", "stopped", "running", "waiting"];
/** The number of jobs up to which each job has its own segment. With more jobs, each state is one segment. */
const MOST = 24;
const GAP = 0.12;

const countsInWords = (counts: JobCounts): string =>
  STATES.filter((state) => counts[state] > 0)
    .map((state) => `${counts[state]} ${state === "stopped" ? "not run" : state}`)
    .join(", ");

/** Shows a build's jobs as a bar of segments. Each state has a length and a colour; a text has the counts. */
const JobSegments = ({ counts }: { counts: JobCounts }) => {
  const isEach = counts.total <= MOST;
  const lengths = STATES.flatMap((state) =>
    isEach ? Array.from({ length: counts[state] }, () => ({ state, length: 1 })) : { state, length: counts[state] },
  ).filter(({ length }) => length > 0);
  const words = `${count(counts.total, "job")}: ${countsInWords(counts)}`;
  let x = 0;
  return (
    <span class="job-segments" title={words}>
      <span class="sr">{words}</span>
      <svg viewBox={`0 0 ${Math.max(1, counts.total)} 1`} preserveAspectRatio="none" aria-hidden="true">
        {lengths.map(({ state, length }) => {
          const from = x;
          x += length;
          return <rect x={from} width={isEach ? length - GAP : length} height="1" class={`is-${state}`} />;
        })}
      </svg>
    </span>
  );
};

/** Names by id, and the reasons why builds wait, by build id. */
export interface BuildRowDetails {
  now: Date;
  repositories: Map<string, string>;
  pipelines: Map<string, string>;
  agents: Map<string, string>;
  whys: Map<string, string>;
}

/** The number of a branch's last builds that appear as dots. */
const DOTS = 5;

interface RowProps {
  build: Build;
  details: BuildRowDetails;
}

const shownState = ({ status, waitsFor }: Build) => (waitsFor.length > 0 ? "asking" : status);

/** Returns the commit's subject. Without one, returns what created the build. */
const subjectLine = (build: Build): string => {
  const { subject, pull, schedule, commitSha } = build;
  return subject ?? pull?.title ?? schedule ?? `${refName(build)}${commitSha ? ` at ${commitSha.slice(0, 7)}` : ""}`;
};

const failedTests = ({ tests }: Build): string | null =>
  tests && tests.failed > 0 ? `${withCommas(tests.failed)} of ${withCommas(tests.total)} tests failed` : null;

/** Reports whether the row needs no words, because the build is green. */
const saysNothing = ({ status }: Build): boolean => status === "succeeded";

/** Shows how the build failed, and the log line that says why. */
const Outcome = ({ build }: { build: Build }) => {
  const { failedLine } = build;
  const words = [failedTests(build), failedLine === null ? whyEnded(build) : null].filter(Boolean).join(", ");
  return (
    <span class="outcome">
      {words || (failedLine === null ? "failed" : "")}
      {words && failedLine && " · "}
      {failedLine && (
        <bdi class="failed-line" title={failedLine}>
          {failedLine}
        </bdi>
      )}
    </span>
  );
};

/** Shows why the build waits, where it runs, or how it ended, in one line under the subject. */
const Note = ({ build, details }: RowProps) => {
  const { status, waitsFor, agentId, id } = build;
  if (waitsFor.length > 0) return <>{waitsFor[0]?.gate.message ?? wordOf("asking")}</>;
  if (isWaiting(status)) return <>{details.whys.get(id) ?? "in the queue"}</>;
  if (!isEnded(status)) return <bdi>{agentId === null ? "" : details.agents.get(agentId)}</bdi>;
  if (status === "failed") {
    return <Outcome build={build} />;
  }
  return <>{unaskedEnd(build) ?? (saysNothing(build) ? null : wordOf(status))}</>;
};

const Took = ({ build: { startedAt, queuedAt, finishedAt }, now }: { build: Build; now: Date }) =>
  startedAt || finishedAt === null ? <Elapsed from={startedAt ?? queuedAt} to={finishedAt} now={now} /> : <>–</>;

/** Shows the names of a pipeline and its repository. If there is no room, the page shortens the repository first. */
const OwnerNames = ({ build, details }: RowProps) => {
  const repository = details.repositories.get(build.repoId) ?? "removed repository";
  const pipeline = build.pipelineId && details.pipelines.get(build.pipelineId);
  return (
    <span class="of">
      <span class="number">#{build.number}</span> <ShortName name={repository.slice(repository.indexOf("/") + 1)} />
      {pipeline && (
        <span class="pipeline">
          {"/ "}
          <bdi>{pipeline}</bdi>
        </span>
      )}
    </span>
  );
};

/** Describes the row for screen readers. */
const SpokenName = ({ build, details }: RowProps) => {
  const pipeline = build.pipelineId && details.pipelines.get(build.pipelineId);
  return (
    <span class="sr">
      {`${wordOf(shownState(build))} #${build.number} `}
      <bdi>{details.repositories.get(build.repoId) ?? "removed repository"}</bdi>
      {pipeline && (
        <>
          {" / "}
          <bdi>{pipeline}</bdi>
        </>
      )}
      {": "}
    </span>
  );
};

const Ref = ({ build }: { build: Build }) => (
  <span class="ref">
    <bdi class="branch">{refName(build)}</bdi>
    {build.commitSha && <code class="sha">{build.commitSha.slice(0, 7)}</code>}
  </span>
);

/** Shows a build. The commit's subject stands out. */
export const BuildListRow = ({ build, details, children }: RowProps & { children?: Child }) => (
  <div id={`b-${build.id}`} class="build-row">
    <StateIcon state={shownState(build)} />
    <a href={`/app/builds/${build.id}`} class="what">
      <SpokenName build={build} details={details} />
      <bdi>{subjectLine(build)}</bdi>
    </a>
    <span class={saysNothing(build) ? "why is-silent" : "why"}>
      <span class={isEnded(build.status) ? "sr" : undefined}>
        {wordOf(shownState(build))}
        {isEnded(build.status) ? " " : " · "}
      </span>
      <Note build={build} details={details} />
    </span>
    <Ref build={build} />
    <span class="from">
      {children}
      <RowOrigin build={build} />
    </span>
    <OwnerNames build={build} details={details} />
    {build.jobCounts && <JobSegments counts={build.jobCounts} />}
    <span class="took-cell">
      <Took build={build} now={details.now} />
    </span>
    <span class="when">
      <RelativeTime at={build.finishedAt ?? build.queuedAt} now={details.now} />
    </span>
  </div>
);

/** Shows a branch's last builds, the oldest first. Each dot is a link. */
export const Dots = ({ builds }: { builds: Build[] }) => (
  <span class="dots">
    {builds
      .slice(0, DOTS)
      .reverse()
      .map((build) => (
        <a
          href={`/app/builds/${build.id}`}
          title={`#${build.number} ${wordOf(shownState(build))}`}
          aria-label={`#${build.number} ${wordOf(shownState(build))}`}
        >
          <StateIcon state={shownState(build)} />
        </a>
      ))}
  </span>
);
