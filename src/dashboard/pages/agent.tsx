import type { Agent } from "../../protocol/agent.ts";
import { agentRuns, pipelinesOfLate } from "../../services/agent-runs.ts";
import { getAgent } from "../../services/agents.ts";
import { capabilitiesOf, platformOf } from "../agent-list.ts";
import { CopiedCode } from "../components/copied-code.tsx";
import { RelativeTime } from "../components/time.tsx";
import { AgentActions } from "../fleet/agent-actions.tsx";
import { AgentState } from "../fleet/agent-state.tsx";
import { AgentVersion } from "../fleet/agent-version.tsx";
import type { HourProps } from "../fleet/hour-bar.tsx";
import { LastHour } from "../fleet/last-hour.tsx";
import { addressOfRun, nameOfRun } from "../fleet/run-name.ts";
import type { Page } from "../page-definition.ts";
import { hasRole } from "../permissions.ts";
import { byId } from "../verb-input.ts";

const REFRESH_SECONDS = 5;

const Fact = ({ name, children }: { name: string; children?: unknown }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

const Facts = ({ agent, now }: { agent: Agent; now: Date }) => (
  <dl class="agent-facts">
    <Fact name="Builds for">{capabilitiesOf(agent).join(", ") || "what asks for nothing"}</Fact>
    <Fact name="Machine">{platformOf(agent)}</Fact>
    {agent.xcodes.length > 0 && <Fact name="Xcode">{agent.xcodes.join(", ")}</Fact>}
    <Fact name="Program">
      <AgentVersion version={agent.version} />
    </Fact>
    <Fact name="Last heard of">
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
    <Fact name="Id">
      <CopiedCode text={agent.id} shown={agent.id.slice(0, 8)} />
    </Fact>
  </dl>
);

/** What it does now. */
const Now = ({ agent, runs, pipelines }: { agent: Agent } & Omit<HourProps, "now">) => {
  const { currentBuildId, isDraining, isEphemeral } = agent;
  const run = runs.find(({ finishedAt }) => finishedAt === null);
  return (
    <p>
      {currentBuildId ? (
        <>
          It runs{" "}
          <a href={run ? addressOfRun(run) : `/app/builds/${currentBuildId}`}>
            <bdi>{run ? nameOfRun(run, pipelines) : "a build"}</bdi>
          </a>
          .
        </>
      ) : (
        "It runs nothing."
      )}
      {isDraining && " It takes no new builds."}
      {isEphemeral && " It goes after one build."}
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
            <a href={`/app/builds?agent=${encodeURIComponent(agent.name)}&view=all`}>Its builds</a>
          </p>
          <Now agent={agent} runs={runs} pipelines={pipelines} />
          <LastHour runs={runs} pipelines={pipelines} now={context.now} />
          <Facts agent={agent} now={context.now} />
        </>
      ),
    };
  },
};
