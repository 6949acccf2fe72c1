import type { Agent } from "../../protocol/agent.ts";
import { AGENT_STATUS } from "../../protocol/agent.ts";
import { PLATFORM_NAMES } from "../../protocol/pipeline.ts";
import { getAgent, listAgents, removeAgent, updateAgent } from "../../services/agents.ts";
import { byId, nothing } from "../ask.ts";
import { may } from "../may.ts";
import type { Form, Page } from "../page.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { Ago } from "../parts/time.tsx";
import { removal } from "../removal.tsx";

const AGAIN = 5;
const PLATFORMS = { other: "other", macos: "macOS", linux: "Linux", windows: "Windows" } as const;
const STATES = Object.keys(AGENT_STATUS);

const platformOf = ({ platform }: Agent): string => PLATFORMS[PLATFORM_NAMES[platform] ?? "other"];

const skillsOf = ({ canBuildIOS, canBuildAndroid, canBuildWeb }: Agent): string[] => [
  ...(canBuildIOS ? ["iOS"] : []),
  ...(canBuildAndroid ? ["Android"] : []),
  ...(canBuildWeb ? ["web"] : []),
];

/** A state is a shape, a word and a colour: full for idle, half for draining, turning for busy, hollow for offline. */
const AgentState = ({ agent }: { agent: Agent }) => {
  const state = STATES[agent.status] ?? "offline";
  return (
    <span class={`agent-state agent-${state}`}>
      <span class="sign" aria-hidden="true"></span>
      {state}
    </span>
  );
};

const Row = ({ agent, now, canChange }: { agent: Agent; now: Date; canChange: boolean }) => (
  <li id={`a-${agent.id}`} class="row agent-row">
    <AgentState agent={agent} />
    <span class="agent-name">
      <strong>{agent.name}</strong>{" "}
      <span class="why">
        {platformOf(agent)}
        {agent.isEphemeral && ", one build only"}
      </span>
    </span>
    <span class="labels">
      {[...skillsOf(agent), ...agent.labels].map((label) => (
        <span class="label">{label}</span>
      ))}
    </span>
    <span class="progress">
      {agent.currentBuildId ? (
        <a href={`/app/builds/${agent.currentBuildId}`}>building now</a>
      ) : (
        <>
          heard <Ago at={agent.lastHeartbeatAt} now={now} />
        </>
      )}
    </span>
    {canChange && (
      <span class="actions">
        <form method="post" action={`/app/agents/${agent.id}/${agent.isDraining ? "resume" : "drain"}`}>
          <button type="submit" class="quiet" aria-label={`${agent.isDraining ? "Resume" : "Drain"} ${agent.name}`}>
            {agent.isDraining ? "Resume" : "Drain"}
          </button>
        </form>
        <a class="button quiet" href={`/app/agents/${agent.id}/remove`} aria-label={`Remove ${agent.name}`}>
          Remove
        </a>
      </span>
    )}
  </li>
);

export const agentsPage: Page = {
  path: "/agents",
  role: "viewer",
  async show(context, { problem }) {
    const agents = await listAgents.run(context, nothing);
    const canChange = may(context, "maintainer");
    const online = agents.filter(({ isOnline }) => isOnline).length;
    return {
      ...{ title: "Agents", section: "agents", again: AGAIN },
      body: (
        <>
          <ProblemNotice problem={problem} />
          <div class="head">
            <h1>Agents</h1>
            {agents.length > 0 && (
              <span class="hint">
                {online} of {agents.length} online
              </span>
            )}
            {canChange && (
              <a class="button primary" href="/app/agents/new">
                Add agent
              </a>
            )}
          </div>
          <ol class="rows" id="agents">
            {agents.map((agent) => (
              <Row agent={agent} now={context.now} canChange={canChange} />
            ))}
          </ol>
          {agents.length === 0 && (
            <p class="empty">
              No agent yet: builds wait until a machine of yours takes them.{" "}
              {canChange && <a href="/app/agents/new">Add the first one</a>}
            </p>
          )}
        </>
      ),
    };
  },
};

const drainForm = (path: string, isDraining: boolean): Form => ({
  ...{ path, access: updateAgent.access, page: agentsPage },
  async act(context, { params }) {
    await updateAgent.run(context, { ...byId(params.id), body: { isDraining } });
    return { to: "/app/agents", done: isDraining ? "draining" : "resumed" };
  },
});

const remove = removal({
  ...{ path: "/agents/:id/remove", section: "agents", access: { role: "maintainer" }, verb: "remove" },
  async ask(context, id) {
    const { name, currentBuildId } = await getAgent.run(context, byId(id));
    const words = currentBuildId ? (
      <>
        <a href={`/app/builds/${currentBuildId}`}>The build it runs</a> returns to the queue at once. Its token is void;
        to come back, the machine registers anew.
      </>
    ) : (
      "Its token is void; to come back, the machine registers anew."
    );
    return { name, words, back: "/app/agents", to: "/app/agents" };
  },
  remove: (context, id) => removeAgent.run(context, byId(id)),
});

export const agentPages: Page[] = [agentsPage, remove.page];

export const agentForms: Form[] = [
  drainForm("/agents/:id/drain", true),
  drainForm("/agents/:id/resume", false),
  remove.form,
];
