import type { Build } from "../../protocol/build.ts";
import { isEnded } from "../../protocol/build-states.ts";
import type { Explanation } from "../../protocol/explain.ts";
import { outcomeOf, unaskedEnd } from "../build-outcome.ts";
import { RowOrigin } from "../components/build-origin.tsx";
import { ShortName } from "../components/short-name.tsx";
import { isWaiting, StateIcon, wordOf } from "../components/state.tsx";
import { Elapsed, RelativeTime } from "../components/time.tsx";

/** Names by id, and why builds wait by the id of the build. */
export interface BuildDetails {
  now: Date;
  repositories: Map<string, string>;
  pipelines: Map<string, string>;
  agents: Map<string, string>;
  explanations: Map<string, Explanation>;
}

/** Dots of a branch: its last builds. */
const DOTS = 5;

interface RowProps {
  build: Build;
  details: BuildDetails;
}

const stateOf = ({ status, waitsFor }: Build) => (waitsFor.length > 0 ? "asking" : status);

/** What a commit says, in a word; or what else the build is of. */
const subjectOf = ({ subject, pull, schedule, tag, branch, commitSha }: Build): string =>
  subject ?? pull?.title ?? schedule ?? `${tag ?? branch}${commitSha ? ` at ${commitSha.slice(0, 7)}` : ""}`;

const failedTests = ({ tests }: Build): string | null =>
  tests && tests.failed > 0
    ? `${tests.failed.toLocaleString("en")} of ${tests.total.toLocaleString("en")} tests failed`
    : null;

/** Why it waits, where it runs, or how it ended: one line under the subject. */
const Note = ({ build, details }: RowProps) => {
  const { status, waitsFor, agentId, id } = build;
  if (waitsFor.length > 0) return <>{waitsFor[0]?.gate.message ?? wordOf("asking")}</>;
  if (isWaiting(status)) return <>{details.explanations.get(id)?.message ?? "waits for its turn"}</>;
  if (!isEnded(status)) return <bdi>{agentId === null ? "" : details.agents.get(agentId)}</bdi>;
  if (status === "failed") {
    return <span class="outcome">{[failedTests(build), outcomeOf(build)].filter(Boolean).join(", ") || "failed"}</span>;
  }
  return <>{unaskedEnd(build) ?? (status === "succeeded" ? null : wordOf(status))}</>;
};

const Took = ({ build: { startedAt, queuedAt, finishedAt }, now }: { build: Build; now: Date }) =>
  startedAt || finishedAt === null ? <Elapsed from={startedAt ?? queuedAt} to={finishedAt} now={now} /> : <>–</>;

/** Names of a pipeline and its repository, of which the pipeline is never shortened. */
const Of = ({ build, details }: RowProps) => {
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

/** What only those hear who do not see the row. */
const SpokenName = ({ build, details }: RowProps) => {
  const pipeline = build.pipelineId && details.pipelines.get(build.pipelineId);
  return (
    <span class="sr">
      {`${wordOf(stateOf(build))} #${build.number} `}
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
    <bdi class="branch">{build.tag ?? build.branch}</bdi>
    {build.commitSha && <code class="sha">{build.commitSha.slice(0, 7)}</code>}
  </span>
);

/** A build: the commit's subject is the loud word. */
export const BuildRow = ({ build, details, children }: RowProps & { children?: unknown }) => (
  <div id={`b-${build.id}`} class="build-row">
    <StateIcon state={stateOf(build)} />
    <a href={`/app/builds/${build.id}`} class="what">
      <SpokenName build={build} details={details} />
      <bdi>{subjectOf(build)}</bdi>
    </a>
    <span class="why">
      <span class={isEnded(build.status) ? "sr" : undefined}>
        {wordOf(stateOf(build))}
        {isEnded(build.status) ? " " : " · "}
      </span>
      <Note build={build} details={details} />
    </span>
    <Ref build={build} />
    <span class="from">
      {children}
      <RowOrigin build={build} />
    </span>
    <Of build={build} details={details} />
    <span class="took-cell">
      <Took build={build} now={details.now} />
    </span>
    <span class="when">
      <RelativeTime at={build.finishedAt ?? build.queuedAt} now={details.now} />
    </span>
  </div>
);

/** The last builds of a branch, oldest first: each is a link. */
export const Dots = ({ builds }: { builds: Build[] }) => (
  <span class="dots">
    {builds
      .slice(0, DOTS)
      .reverse()
      .map((build) => (
        <a
          href={`/app/builds/${build.id}`}
          title={`#${build.number} ${wordOf(stateOf(build))}`}
          aria-label={`#${build.number} ${wordOf(stateOf(build))}`}
        >
          <StateIcon state={stateOf(build)} />
        </a>
      ))}
  </span>
);
