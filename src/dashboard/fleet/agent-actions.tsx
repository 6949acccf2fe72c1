import type { Agent } from "../../protocol/agent.ts";

interface AgentActionsProps {
  agent: Agent;
  /** Says where a person came from, and comes back to: the filters of the list, or `?own` for the agent's own page. */
  search: string;
  /** In a row of many. */
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
