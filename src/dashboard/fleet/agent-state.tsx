import type { Agent } from "../../protocol/agent.ts";
import { stateOf } from "../agent-list.ts";

/** A state has a sign, a word and a colour. The style draws the sign. */
export const AgentState = ({ agent }: { agent: Agent }) => {
  const state = stateOf(agent);
  return (
    <span class={`agent-state agent-${state}`}>
      <span class="sign" aria-hidden="true"></span>
      {state}
    </span>
  );
};
