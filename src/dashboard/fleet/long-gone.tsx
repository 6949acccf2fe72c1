import type { Agent } from "../../protocol/agent.ts";
import { platformOf } from "../agent-list.ts";
import { RelativeTime } from "../components/time.tsx";
import { count } from "../count.ts";

const LISTED = 20;

interface LongGoneProps {
  agents: Agent[];
  now: Date;
  /** Where all that are offline are listed. */
  all: string;
}

/** Agents that nobody has heard of for a week, folded. */
export const LongGone = ({ agents, now, all }: LongGoneProps) =>
  agents.length === 0 ? null : (
    <details class="long-gone" id="long-gone">
      <summary>{count(agents.length, "agent")} not heard of for more than a week</summary>
      <ul class="rows">
        {agents.slice(0, LISTED).map(({ id, name, lastHeartbeatAt, ...agent }) => (
          <li class="row" data-row>
            <span class="agent-name">
              <a href={`/app/agents/${id}`}>
                <bdi>{name}</bdi>
              </a>{" "}
              <span class="why">
                {platformOf(agent)}, seen <RelativeTime at={lastHeartbeatAt} now={now} />
              </span>
            </span>
          </li>
        ))}
      </ul>
      <p class="more">
        <a href={all}>All that are offline</a>
      </p>
    </details>
  );
