import type { Agent } from "../../protocol/agent.ts";
import { capabilitiesOf, platformOf } from "../agent-list.ts";
import { RelativeTime } from "../components/time.tsx";
import { AgentActions } from "./agent-actions.tsx";
import { AgentState } from "./agent-state.tsx";
import { AgentVersion } from "./agent-version.tsx";
import { HourBar, type HourProps, runsInWords } from "./hour-bar.tsx";

interface AgentRowProps extends HourProps {
  agent: Agent;
  canChange: boolean;
  /** The search part of the page's address, so that its filters stay after a form was sent. */
  search: string;
}

/** Of one that is away, when it was seen comes before all else: a narrow column cuts the end. */
const Facts = ({ agent, now }: Pick<AgentRowProps, "agent" | "now">) => (
  <span class="why">
    {!agent.isOnline && (
      <>
        seen <RelativeTime at={agent.lastHeartbeatAt} now={now} />,{" "}
      </>
    )}
    {(agent.isOnline || agent.version === null) && platformOf(agent)}
    {agent.version && (
      <>
        {agent.isOnline && " "}
        <AgentVersion version={agent.version} isShort />
      </>
    )}
    {agent.isEphemeral && ", one build only"}
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
    <span class="labels" title={capabilitiesOf(agent).join(", ")}>
      {capabilitiesOf(agent).map((label) => (
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
