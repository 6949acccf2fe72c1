import type { Agent } from "../../protocol/agent.ts";
import { MINUTE_MS } from "../../protocol/units.ts";
import { agentRuns, getAgent, pipelinesOfLate } from "../../services/agents/agents.ts";
import { CopiedCode } from "../parts/copied-code.tsx";
import { StateWord } from "../parts/state.tsx";
import { Elapsed, RelativeTime } from "../parts/time.tsx";
import { placeOn } from "../parts/time-axis.ts";
import type { Child } from "../shell/markup.ts";
import { hasRole, type Page } from "../shell/page-definition.ts";
import { byId } from "../shell/verb-input.ts";
import { listCapabilities, platformTitle } from "./agent-list.ts";
import { AgentActions, AgentState, AgentVersion } from "./agent-row.tsx";
import { HourBar, type HourProps, hourUntil, runAddress, runName, runsInWords } from "./hour-bar.tsx";

const LISTED = 20;

const iso = (at: number): string => new Date(at).toISOString();

const Ticks = ({ now }: { now: Date }) => {
  const axis = hourUntil(now);
  return (
    <svg class="hour-ticks" width="100%" height="18" aria-hidden="true">
      {axis.ticks.map((tick) => (
        <text x={placeOn(axis, tick)} y="12">
          {tick === axis.to ? "now" : `${(axis.to - tick) / MINUTE_MS} min`}
        </text>
      ))}
    </svg>
  );
};

/** Shows the agent's last hour as a bar, and its newest runs as a table. */
const LastHour = ({ runs, pipelines, now }: HourProps) => (
  <section class="last-hour" aria-labelledby="last-hour">
    <div class="section-head">
      <h2 id="last-hour">Last hour</h2>
      <p class="hint">{runsInWords(runs) || "No builds"}</p>
    </div>
    <div class="hour">
      <Ticks now={now} />
      <div class="hour-line">
        <HourBar runs={runs} pipelines={pipelines} now={now} />
      </div>
    </div>
    {runs.length > 0 && (
      <div class="wide">
        <table id="runs">
          <thead>
            <tr>
              <th scope="col">{runs.every(({ jobId }) => jobId === null) ? "Build" : "Build or job"}</th>
              <th scope="col">State</th>
              <th scope="col">Started</th>
              <th scope="col">Duration</th>
            </tr>
          </thead>
          <tbody>
            {runs.slice(0, LISTED).map((run) => (
              <tr id={`run-${run.jobId ?? run.buildId}`}>
                <th scope="row">
                  <a href={runAddress(run)}>
                    <bdi>{runName(run, pipelines)}</bdi>
                  </a>
                </th>
                <td>
                  <StateWord state={run.status} />
                </td>
                <td>
                  <RelativeTime at={iso(run.startedAt)} now={now} />
                </td>
                <td>
                  <Elapsed
                    from={iso(run.startedAt)}
                    to={run.finishedAt === null ? null : iso(run.finishedAt)}
                    now={now}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    )}
    {runs.length > LISTED && <p class="hint more">Showing the newest {LISTED}</p>}
  </section>
);

const REFRESH_SECONDS = 5;

const Fact = ({ name, children }: { name: string; children?: Child }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

const Facts = ({ agent, now }: { agent: Agent; now: Date }) => (
  <dl class="agent-facts">
    <Fact name="Capabilities">
      {listCapabilities(agent).join(", ") || "none: runs only builds without requirements"}
    </Fact>
    <Fact name="Platform">{platformTitle(agent)}</Fact>
    {agent.xcodes.length > 0 && <Fact name="Xcode">{agent.xcodes.join(", ")}</Fact>}
    <Fact name="Agent version">
      <AgentVersion version={agent.version} />
    </Fact>
    <Fact name="Last seen">
      <RelativeTime at={agent.lastHeartbeatAt} now={now} />
    </Fact>
    <Fact name="Registered">
      <RelativeTime at={agent.createdAt} now={now} />
      {agent.registeredBy && (
        <>
          {" "}
          by <bdi>{agent.registeredBy.name}</bdi>
        </>
      )}
    </Fact>
    <Fact name="ID">
      <CopiedCode text={agent.id} label={agent.id.slice(0, 8)} />
    </Fact>
  </dl>
);

/** Shows the agent's current work. */
const Now = ({ agent, runs, pipelines }: { agent: Agent } & Omit<HourProps, "now">) => {
  const { currentBuildId, isDraining, isEphemeral } = agent;
  const run = runs.find(({ finishedAt }) => finishedAt === null);
  return (
    <p>
      {currentBuildId ? (
        <>
          Running{" "}
          <a href={run ? runAddress(run) : `/app/builds/${currentBuildId}`}>
            <bdi>{run ? runName(run, pipelines) : "a build"}</bdi>
          </a>
          .
        </>
      ) : (
        "No current build."
      )}
      {isDraining && " Draining: it accepts no new builds."}
      {isEphemeral && " Ephemeral: it runs one build."}
    </p>
  );
};

export const agentPage: Page = {
  path: "/agents/:id",
  role: "viewer",
  async show(context, { params }) {
    const [agent, pipelines] = await Promise.all([getAgent.run(context, byId(params.id)), pipelinesOfLate(context)]);
    const runs = await agentRuns(context, [agent.id]);
    return {
      title: agent.name,
      section: "agents",
      trail: [{ name: "Fleet", href: "/app/agents" }],
      refreshSeconds: REFRESH_SECONDS,
      body: (
        <>
          <div class="head">
            <h1>
              <bdi>{agent.name}</bdi>
            </h1>
            {hasRole(context, "maintainer") && <AgentActions agent={agent} search="?own" />}
          </div>
          <p class="facts">
            <AgentState agent={agent} />
            <a href={`/app/builds?agent=${encodeURIComponent(agent.name)}&view=all`}>Builds</a>
          </p>
          <Now agent={agent} runs={runs} pipelines={pipelines} />
          <LastHour runs={runs} pipelines={pipelines} now={context.now} />
          <Facts agent={agent} now={context.now} />
        </>
      ),
    };
  },
};
