import type { Agent } from "../../protocol/agent.ts";
import { stateOf } from "../agent-list.ts";
import { StateIcon } from "../components/state.tsx";

/** A state has a sign, a word and a colour. One that works has the sign of what runs; the style draws the others. */
export const AgentState = ({ agent }: { agent: Agent }) => {
  const state = stateOf(agent);
  return (
    <span class={`agent-state agent-${state}`}>
      {state === "busy" ? <StateIcon state="running" /> : <span class="sign" aria-hidden="true"></span>}
      {agent.currentBuildId ? <a href={`/app/builds/${agent.currentBuildId}`}>{state}</a> : state}
    </span>
  );
};
