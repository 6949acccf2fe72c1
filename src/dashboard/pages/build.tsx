import type { Agent } from "../../protocol/agent.ts";
import type { Build, EnvironmentKey } from "../../protocol/build.ts";
import { isEnded } from "../../protocol/build-states.ts";
import type { Explanation } from "../../protocol/explain.ts";
import type { Pipeline } from "../../protocol/pipeline.ts";
import type { Repository } from "../../protocol/repository.ts";
import { getAgent } from "../../services/agents.ts";
import { cancelBuild, findRecord } from "../../services/builds.ts";
import type { Context } from "../../services/core/context.ts";
import { explainBuild } from "../../services/explain.ts";
import { listPipelines } from "../../services/pipelines.ts";
import { listRepositories } from "../../services/repositories.ts";
import { retryBuild } from "../../services/retry.ts";
import { outcomeOf, unaskedEnd } from "../build-outcome.ts";
import { BuildActions } from "../components/build-actions.tsx";
import { BuildLog, LostAttempts } from "../components/build-log.tsx";
import { CommitSubject, OriginFacts } from "../components/build-origin.tsx";
import { BuildSteps } from "../components/build-steps.tsx";
import { BuildSummary } from "../components/build-summary.tsx";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { isWaiting, StateWord } from "../components/state.tsx";
import { Table } from "../components/table.tsx";
import { Elapsed, RelativeTime } from "../components/time.tsx";
import { WhyWaiting } from "../components/why-waiting.tsx";
import { count } from "../count.ts";
import { readLogTail } from "../log-tail.ts";
import type { Form, Page } from "../page-definition.ts";
import { hasRole } from "../permissions.ts";
import { byId, noInput, nullIfNotFound } from "../verb-input.ts";

const REFRESH_SECONDS = 2;
const Environment = ({ keys }: { keys: EnvironmentKey[] }) => (
  <details class="environment" id="environment">
    <summary>Environment: {count(keys.length, "key")}</summary>
    <Table columns={["Key", "From", "Kind"]}>
      {keys.map(({ key, scope, isSecret }) => (
        <tr>
          <td>
            <code>{key}</code>
          </td>
          <td>{scope}</td>
          <td>{isSecret ? "secret" : "plain"}</td>
        </tr>
      ))}
    </Table>
  </details>
);

interface BuildDetails {
  build: Build;
  now: Date;
  repository: Repository | undefined;
  pipeline: Pipeline | undefined;
  agent: Agent | null;
  /** The build that took its place. */
  successor: Build | null;
  /** Why a queued build waits. */
  explanation: Explanation | null;
  /** The end of the log, for a browser without scripts; null when the log was deleted. */
  logTail: string | null;
}

const readDetails = async (context: Context, id: string | undefined): Promise<BuildDetails> => {
  const [build, repositories, pipelines] = await Promise.all([
    findRecord(context, id ?? ""),
    listRepositories.run(context, noInput),
    listPipelines.run(context, noInput),
  ]);
  const waits = isWaiting(build.status);
  const [agent, successor, explanation, logTail] = await Promise.all([
    build.agentId === null ? null : nullIfNotFound(getAgent.run(context, byId(build.agentId))),
    build.supersededBy === null ? null : nullIfNotFound(findRecord(context, build.supersededBy)),
    waits ? explainBuild.run(context, byId(build.id)) : null,
    waits ? "" : readLogTail(context, build),
  ]);
  return {
    build,
    now: context.now,
    repository: repositories.find(({ id }) => id === build.repoId),
    pipeline: pipelines.find(({ id }) => id === build.pipelineId),
    agent,
    successor,
    explanation,
    logTail,
  };
};

const nameOf = ({ repository }: BuildDetails): string => repository?.fullName ?? "removed repository";

const Heading = (details: BuildDetails) => {
  const { build, repository, pipeline } = details;
  return (
    <h1>
      <span class="number">#{build.number}</span>{" "}
      {repository ? <a href={`/app/repositories/${repository.id}`}>{repository.fullName}</a> : nameOf(details)}
      {pipeline && (
        <>
          {" / "}
          <a href={`/app/pipelines/${pipeline.id}`}>{pipeline.name}</a>
        </>
      )}
    </h1>
  );
};

const Outcome = ({ build, successor }: BuildDetails) => {
  if (successor) {
    return (
      <span>
        superseded by <a href={`/app/builds/${successor.id}`}>build {successor.number}</a>
      </span>
    );
  }
  const outcome = outcomeOf(build);
  const word = unaskedEnd(build);
  return word ? (
    <span>
      {word}: {outcome}
    </span>
  ) : (
    outcome && <span class="outcome">{outcome}</span>
  );
};

const Facts = (details: BuildDetails) => {
  const { build, now, agent } = details;
  return (
    <p class="facts">
      <StateWord state={build.status} />
      {build.startedAt ? (
        <Elapsed from={build.startedAt} to={build.finishedAt} now={now} />
      ) : (
        !isEnded(build.status) && <Elapsed from={build.queuedAt} to={null} now={now} />
      )}
      <Outcome {...details} />
      <span class="branch">{build.tag ?? build.branch}</span>
      {build.commitSha && <code title={build.commitSha}>{build.commitSha.slice(0, 7)}</code>}
      {agent && <span>{agent.name}</span>}
      {build.attempt > 1 && <span>attempt {build.attempt}</span>}
      <span>
        queued <RelativeTime at={build.queuedAt} now={now} />
      </span>
      {build.retryOf && <a href={`/app/builds/${build.retryOf}`}>retry of an earlier build</a>}
    </p>
  );
};

/** Not before its turn, and not where it ended before an agent had it. */
const mayHaveLog = ({ status, attempt }: Build): boolean => !isWaiting(status) && (attempt > 0 || !isEnded(status));

const Messages = ({ build, logTail, successor }: BuildDetails) => (
  <>
    {build.message && !successor && <p class="message">{build.message}</p>}
    {logTail !== null && <LostAttempts build={build} />}
    {build.leak && (
      <p class="message">The agent's masker missed a secret. The service masked it before the log was stored.</p>
    )}
  </>
);

export const buildPage: Page = {
  path: "/builds/:id",
  role: "viewer",
  async show(context, { params, problem }) {
    const details = await readDetails(context, params.id);
    const { build, now, explanation } = details;
    const name = nameOf(details);
    const canDelete = hasRole(context, "maintainer");
    const hasLog = build.attempt > 0 && details.logTail !== null;
    return {
      title: `#${build.number} ${name}`,
      section: "builds",
      script: "build.js",
      refreshSeconds: isEnded(build.status) ? undefined : REFRESH_SECONDS,
      state: build.status,
      body: (
        <>
          <ProblemNotice request={{ problem, form: null }} />
          <div class="head">
            <Heading {...details} />
            {hasRole(context, "member") && (
              <BuildActions build={build} name={name} canDelete={canDelete} hasLog={hasLog} />
            )}
          </div>
          <CommitSubject build={build} />
          <Facts {...details} />
          <OriginFacts build={build} />
          <Messages {...details} />
          {explanation && <WhyWaiting why={explanation} canAdd={hasRole(context, "maintainer")} />}
          <BuildSteps build={build} now={now} />
          {mayHaveLog(build) && <BuildLog build={build} tail={details.logTail} />}
          {build.summary && <BuildSummary text={build.summary} />}
          {build.environment && build.environment.length > 0 && <Environment keys={build.environment} />}
        </>
      ),
    };
  },
};

export const cancelForm: Form = {
  path: "/builds/:id/cancel",
  access: cancelBuild.access,
  page: buildPage,
  async submit(context, { params }) {
    await cancelBuild.run(context, byId(params.id));
    return { to: `/app/builds/${params.id}`, notice: "canceled" };
  },
};

export const retryForm: Form = {
  path: "/builds/:id/retry",
  access: retryBuild.access,
  page: buildPage,
  async submit(context, { params }) {
    const { id } = await retryBuild.run(context, { ...byId(params.id), body: {} });
    return { to: `/app/builds/${id}`, notice: "triggered" };
  },
};
