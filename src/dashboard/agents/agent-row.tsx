import type { Agent } from "../../protocol/agent.ts";
import { VERSION } from "../../protocol/version.ts";
import { StateIcon } from "../parts/state.tsx";
import { RelativeTime } from "../parts/time.tsx";
import { agentStateOf, isOlder, listCapabilities, platformTitle } from "./agent-list.ts";
import { HourBar, type HourProps, runsInWords } from "./hour-bar.tsx";

interface AgentActionsProps {
  agent: Agent;
  /** The search part of the address to return to: the list's filters, or `?own` for the agent's own page. */
  search: string;
  /** Whether the actions are in a row of a list. */
  isQuiet?: boolean;
}

export const AgentActions = ({ agent: { id, name, isDraining }, search, isQuiet = false }: AgentActionsProps) => {
  const action = isDraining ? "Resume" : "Drain";
  const path = `/app/agents/${id}`;
  return (
    <div class="actions">
      <form method="post" action={`${path}/${action.toLowerCase()}${search}`}>
        <button type="submit" class={isQuiet ? "quiet" : undefined} aria-label={`${action} ${name}`}>
          {action}
        </button>
      </form>
      <a
        class={isQuiet ? "button quiet" : "button danger"}
        href={`${path}/remove${search}`}
        aria-label={`Remove ${name}`}
      >
        Remove
      </a>
    </div>
  );
};

export const HOW_TO_UPDATE = `The service is ${VERSION}. Drain the agent, reinstall it as "Add agent" shows, and start it again.`;

interface AgentVersionProps {
  version: string | null;
  /** Whether there is room for one word only, as in a row of a list. */
  isShort?: boolean;
}

/** Shows the version of an agent's program, and whether the service is newer. */
export const AgentVersion = ({ version, isShort = false }: AgentVersionProps) => (
  <>
    {version ?? "unknown"}
    {isOlder(version) && (
      <>
        {", "}
        <span class="older" title={HOW_TO_UPDATE}>
          {isShort ? "outdated" : `outdated (the service is ${VERSION})`}
        </span>
      </>
    )}
  </>
);

/**
 * Shows a state as a sign, a word and a colour. A busy agent has the sign for running; the stylesheet draws the others.
 */
export const AgentState = ({ agent }: { agent: Agent }) => {
  const state = agentStateOf(agent);
  return (
    <span class={`agent-state agent-${state}`}>
      {state === "busy" ? <StateIcon state="running" /> : <span class="sign" aria-hidden="true"></span>}
      {agent.currentBuildId ? <a href={`/app/builds/${agent.currentBuildId}`}>{state}</a> : state}
    </span>
  );
};

interface AgentRowProps extends HourProps {
  agent: Agent;
  canChange: boolean;
  /** The search part of the page's address. It preserves the filters after a person sent a form. */
  search: string;
}

/**
 * Shows the agent's facts. The time when an offline agent was last seen comes first, because a narrow column cuts the
 * end.
 */
const Facts = ({ agent, now }: Pick<AgentRowProps, "agent" | "now">) => (
  <span class="why">
    {!agent.isOnline && (
      <>
        seen <RelativeTime at={agent.lastHeartbeatAt} now={now} />,{" "}
      </>
    )}
    {(agent.isOnline || agent.version === null) && platformTitle(agent)}
    {agent.version && (
      <>
        {agent.isOnline && " "}
        <AgentVersion version={agent.version} isShort />
      </>
    )}
    {agent.isEphemeral && ", ephemeral"}
  </span>
);

export const AgentRow = ({ agent, runs, pipelines, now, canChange, search }: AgentRowProps) => (
  <li
    id={`a-${agent.id}`}
    class="row agent-row"
    data-row
    data-end={canChange ? `/app/agents/${agent.id}/remove${search}` : undefined}
    tabindex={-1}
  >
    <AgentState agent={agent} />
    <span class="agent-name">
      <a href={`/app/agents/${agent.id}`}>
        <bdi>{agent.name}</bdi>
      </a>{" "}
      <Facts agent={agent} now={now} />
    </span>
    <span class="labels" title={listCapabilities(agent).join(", ")}>
      {listCapabilities(agent).map((label) => (
        <span class="label">{label}</span>
      ))}
    </span>
    <span class="agent-hour hour-line">
      {runs.length > 0 && <span class="sr">In the last hour: {runsInWords(runs)}</span>}
      <HourBar runs={runs} pipelines={pipelines} now={now} />
    </span>
    {canChange && <AgentActions agent={agent} search={search} isQuiet />}
  </li>
);
