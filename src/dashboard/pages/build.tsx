import type { Build, Step } from "../../protocol/build.ts";
import { isEnded } from "../../protocol/build-states.ts";
import { getAgent } from "../../services/agents.ts";
import { cancelBuild, getBuild } from "../../services/builds.ts";
import { explainBuild } from "../../services/explain.ts";
import { listPipelines } from "../../services/pipelines.ts";
import { listRepositories } from "../../services/repositories.ts";
import { retryBuild } from "../../services/triggers.ts";
import { byId, ifThere, nothing } from "../ask.ts";
import { may } from "../may.ts";
import { outcomeOf } from "../outcome.ts";
import type { Form, Page } from "../page.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { isWaiting, StateIcon, StateWord, wordOf } from "../parts/state.tsx";
import { Ago, Took } from "../parts/time.tsx";
import { Waits } from "../parts/waits.tsx";
import { plainTail } from "../plain-log.ts";
import { fileAt } from "../static.ts";

const AGAIN = 2;
/** More steps than these stand in one line that scrolls, so that the log stays in sight. */
const ONE_LINE = 12;

const StepItem = ({ step, index, now }: { step: Step; index: number; now: Date }) => (
  <li id={`step-${index}`} data-offset={step.logOffset ?? undefined} data-state={step.status} data-name={step.name}>
    <a href={`#step-${index}`} class="step">
      <StateIcon state={step.status} />
      <span class="step-name">{step.name}</span>
      <span class="sr"> {wordOf(step.status)}</span>
      {step.startedAt && <Took from={step.startedAt} to={step.finishedAt} now={now} />}
      {step.exitCode !== null && step.exitCode !== 0 && <span class="exit">exit {step.exitCode}</span>}
    </a>
  </li>
);

const Environment = ({ build }: { build: Build }) =>
  build.environment && build.environment.length > 0 ? (
    <details class="environment" id="environment">
      <summary>
        Environment: {build.environment.length} {build.environment.length === 1 ? "key" : "keys"}
      </summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">From</th>
            <th scope="col">Kind</th>
          </tr>
        </thead>
        <tbody>
          {build.environment.map(({ key, scope, isSecret }) => (
            <tr>
              <td>
                <code>{key}</code>
              </td>
              <td>{scope}</td>
              <td>{isSecret ? "secret" : "plain"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  ) : null;

/** Attempts that ended without a result; the log of each stays. */
const LostAttempts = ({ build: { id, status, attempt } }: { build: Build }) => {
  const lost = isWaiting(status) ? attempt : attempt - 1;
  return lost > 0 ? (
    <p class="message" id="lost-attempts">
      Ended without a result:{" "}
      {Array.from({ length: lost }, (_, index) => (
        <>
          {index > 0 && ", "}
          <a href={`/app/builds/${id}/log?attempt=${index + 1}`}>log of attempt {index + 1}</a>
        </>
      ))}
    </p>
  ) : null;
};

const LogView = ({ build, tail }: { build: Build; tail: string }) => {
  const source = `/app/builds/${build.id}/log`;
  return (
    <div
      id="log"
      class="log"
      data-keep
      data-src={source}
      data-attempt={build.attempt}
      data-live={isEnded(build.status) ? undefined : "true"}
    >
      <div class="log-bar">
        <h2>Log</h2>
        <a href={source}>Raw</a>
      </div>
      <section class="log-lines" tabindex={0} aria-label="Lines of the log">
        <pre>{tail || "No output yet."}</pre>
      </section>
    </div>
  );
};

/** Asks before the build is ended. It opens without a script, and `c` opens it too. */
const Cancel = ({ build, name }: { build: Build; name: string }) => (
  <>
    <button type="button" popovertarget="cancel" data-key="c" disabled={build.status === "canceling"}>
      Cancel
    </button>
    <form id="cancel" class="ask" popover="auto" method="post" action={`/app/builds/${build.id}/cancel`}>
      <p>
        Cancel <strong>#{build.number}</strong> of <bdi>{name}</bdi>?
      </p>
      <span class="actions">
        <button type="submit" class="danger" autofocus>
          Cancel the build
        </button>
        <button type="button" popovertarget="cancel" popovertargetaction="hide">
          Let it go on
        </button>
      </span>
    </form>
  </>
);

const Actions = ({ build, name }: { build: Build; name: string }) => (
  <div class="actions">
    {isEnded(build.status) ? (
      <form method="post" action={`/app/builds/${build.id}/retry`}>
        <button type="submit" data-key="r">
          Retry
        </button>
      </form>
    ) : (
      <Cancel build={build} name={name} />
    )}
  </div>
);

export const buildPage: Page = {
  path: "/builds/:id",
  role: "viewer",
  async show(context, { params, problem }) {
    const { now } = context;
    const [build, repositories, pipelines] = await Promise.all([
      getBuild.run(context, byId(params.id)),
      listRepositories.run(context, nothing),
      listPipelines.run(context, nothing),
    ]);
    const waits = isWaiting(build.status);
    const [agent, why, tail] = await Promise.all([
      build.agentId === null ? null : ifThere(getAgent.run(context, byId(build.agentId))),
      waits ? explainBuild.run(context, byId(build.id)) : null,
      waits ? "" : plainTail(context, build),
    ]);
    const repository = repositories.find(({ id }) => id === build.repoId);
    const pipeline = pipelines.find(({ id }) => id === build.pipelineId);
    const name = repository?.fullName ?? "removed repository";
    const outcome = outcomeOf(build);
    return {
      ...{ title: `#${build.number} ${name}`, section: "builds", script: "build.js" },
      ...{ again: isEnded(build.status) ? undefined : AGAIN, state: build.status },
      body: (
        <>
          <ProblemNotice asked={{ problem, entered: null }} />
          <div class="head">
            <h1>
              <span class="number">#{build.number}</span>{" "}
              {repository ? <a href={`/app/repositories/${repository.id}`}>{name}</a> : name}
              {pipeline && (
                <>
                  {" / "}
                  <a href={`/app/pipelines/${pipeline.id}`}>{pipeline.name}</a>
                </>
              )}
            </h1>
            {may(context, "member") && <Actions build={build} name={name} />}
          </div>
          <p class="facts">
            <StateWord state={build.status} />
            {build.startedAt ? (
              <Took from={build.startedAt} to={build.finishedAt} now={now} />
            ) : (
              !isEnded(build.status) && <Took from={build.queuedAt} to={null} now={now} />
            )}
            {outcome && <span class="outcome">{outcome}</span>}
            <span class="branch">{build.branch}</span>
            {build.commitSha && <code title={build.commitSha}>{build.commitSha.slice(0, 7)}</code>}
            {agent && <span>{agent.name}</span>}
            {build.attempt > 1 && <span>attempt {build.attempt}</span>}
            <span>
              queued <Ago at={build.queuedAt} now={now} />
            </span>
            {build.retryOf && <a href={`/app/builds/${build.retryOf}`}>retry of an earlier build</a>}
          </p>
          {build.message && <p class="message">{build.message}</p>}
          <LostAttempts build={build} />
          {build.leak && (
            <p class="message">A secret had got past the agent's masker; the service masked it before it was stored.</p>
          )}
          {why && <Waits why={why} canAdd={may(context, "maintainer")} />}
          <ol class={build.steps.length > ONE_LINE ? "steps many" : "steps"} id="steps" aria-label="Steps">
            {build.steps.map((step, index) => (
              <StepItem step={step} index={index} now={now} />
            ))}
          </ol>
          {!waits && <LogView build={build} tail={tail} />}
          {build.summary && (
            <section class="summary" id="summary">
              <h2>Summary</h2>
              <div class="prose" id="summary-shown" data-keep data-renderer={fileAt("markdown.js")}></div>
              <pre class="prose" id="summary-source">
                {build.summary}
              </pre>
            </section>
          )}
          <Environment build={build} />
        </>
      ),
    };
  },
};

export const cancelForm: Form = {
  ...{ path: "/builds/:id/cancel", access: cancelBuild.access, page: buildPage },
  async act(context, { params }) {
    await cancelBuild.run(context, byId(params.id));
    return { to: `/app/builds/${params.id}`, done: "canceled" };
  },
};

export const retryForm: Form = {
  ...{ path: "/builds/:id/retry", access: retryBuild.access, page: buildPage },
  async act(context, { params }) {
    const { id } = await retryBuild.run(context, byId(params.id));
    return { to: `/app/builds/${id}`, done: "triggered" };
  },
};
