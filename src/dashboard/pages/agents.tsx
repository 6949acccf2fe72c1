import type { Agent } from "../../protocol/agent.ts";
import { deleteAgent, getAgent, listAgents, updateAgent } from "../../services/agents.ts";
import { jsonMetrics } from "../../services/metrics.ts";
import { AGENT_STATES, capabilitiesOf, platformOf, selectAgents } from "../agent-list.ts";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { RelativeTime } from "../components/time.tsx";
import { confirmRemoval } from "../confirm-removal.tsx";
import { AgentState } from "../fleet/agent-state.tsx";
import { AgentStrip } from "../fleet/agent-strip.tsx";
import { Queue } from "../fleet/queue.tsx";
import type { Form, Page } from "../page-definition.ts";
import { hasRole } from "../permissions.ts";
import { byId, noInput } from "../verb-input.ts";

const REFRESH_SECONDS = 5;

/** The address of this page with its filters, some of them changed. */
const addressOf = (query: URLSearchParams, change: Record<string, string>): string => {
  const filters = { q: query.get("q") ?? "", state: query.get("state") ?? "", ...change };
  const search = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== ""));
  return search.size > 0 ? `/app/agents?${search}` : "/app/agents";
};

interface RowProps {
  agent: Agent;
  now: Date;
  canChange: boolean;
  /** The search part of the page's address, so that its filters stay after a form was sent. */
  search: string;
}

const Actions = ({ agent, search }: Pick<RowProps, "agent" | "search">) => {
  const { id, name, isDraining } = agent;
  const action = isDraining ? "Resume" : "Drain";
  return (
    <div class="actions">
      <form method="post" action={`/app/agents/${id}/${action.toLowerCase()}${search}`}>
        <button type="submit" class="quiet" aria-label={`${action} ${name}`}>
          {action}
        </button>
      </form>
      <a class="button quiet" href={`/app/agents/${id}/remove`} aria-label={`Remove ${name}`}>
        Remove
      </a>
    </div>
  );
};

const Row = ({ agent, now, canChange, search }: RowProps) => (
  <li
    id={`a-${agent.id}`}
    class="row agent-row"
    data-row
    data-end={canChange ? `/app/agents/${agent.id}/remove` : undefined}
    tabindex={-1}
  >
    <AgentState agent={agent} />
    <span class="agent-name">
      <a href={`/app/agents/${agent.id}`}>
        <bdi>{agent.name}</bdi>
      </a>{" "}
      <span class="why">
        {platformOf(agent)}
        {agent.version && ` ${agent.version}`}
        {agent.isEphemeral && ", one build only"}
      </span>
    </span>
    <span class="labels">
      {capabilitiesOf(agent).map((label) => (
        <span class="label">{label}</span>
      ))}
    </span>
    <span class="progress">
      {agent.currentBuildId ? (
        <a href={`/app/builds/${agent.currentBuildId}`}>building now</a>
      ) : (
        <>
          seen <RelativeTime at={agent.lastHeartbeatAt} now={now} />
        </>
      )}
    </span>
    {canChange && <Actions agent={agent} search={search} />}
  </li>
);

const Filter = ({ query }: { query: URLSearchParams }) => (
  <form method="get" action="/app/agents" class="filter">
    <label>
      <span class="sr">Name or label</span>
      <input type="search" name="q" placeholder="Name or label" value={query.get("q") ?? ""} data-key="/" />
    </label>
    <label>
      <span class="sr">State</span>
      <select name="state">
        <option value="">Any state</option>
        {AGENT_STATES.map((state) => (
          <option value={state} selected={query.get("state") === state}>
            {state}
          </option>
        ))}
      </select>
    </label>
    <button type="submit">Filter</button>
  </form>
);

const Counts = ({ query, counts }: { query: URLSearchParams; counts: Map<string, number> }) => (
  <p class="facts" id="agent-counts">
    {[...counts].map(([state, count]) => (
      <a href={addressOf(query, { state })}>
        {count.toLocaleString("en")} {state}
      </a>
    ))}
  </p>
);

const Pager = ({ query, page, pages }: { query: URLSearchParams; page: number; pages: number }) =>
  pages === 1 ? null : (
    <p class="more actions">
      {page > 1 && <a href={addressOf(query, { page: String(page - 1) })}>Previous</a>}
      <span class="hint">
        Page {page} of {pages}
      </span>
      {page < pages && <a href={addressOf(query, { page: String(page + 1) })}>Next</a>}
    </p>
  );

const agentsPage: Page = {
  path: "/agents",
  role: "viewer",
  async show(context, { query, problem }) {
    const [agents, metrics] = await Promise.all([
      listAgents.run(context, noInput),
      jsonMetrics.run(context, { ...noInput, query: undefined }),
    ]);
    const canChange = hasRole(context, "maintainer");
    const { counts, shown, page, pages } = selectAgents(agents, query);
    const here = addressOf(query, page > 1 ? { page: String(page) } : {});
    return {
      title: "Fleet",
      section: "agents",
      refreshSeconds: REFRESH_SECONDS,
      body: (
        <>
          <ProblemNotice request={{ problem, form: null }} />
          <div class="head">
            <h1>Fleet</h1>
            {agents.length > 0 && <Filter query={query} />}
            {canChange && (
              <a class="button primary" href="/app/agents/new">
                Add agent
              </a>
            )}
          </div>
          {agents.length > 0 && <AgentStrip counts={counts} addressOf={(state) => addressOf(query, { state })} />}
          {agents.length > 0 && <Counts query={query} counts={counts} />}
          <Queue metrics={metrics} />
          {agents.length > 0 && <h2>Agents</h2>}
          <ol class="rows" id="agents">
            {shown.map((agent) => (
              <Row agent={agent} now={context.now} canChange={canChange} search={here.slice("/app/agents".length)} />
            ))}
          </ol>
          <Pager query={query} page={page} pages={pages} />
          {agents.length > 0 && shown.length === 0 && (
            <p class="empty">
              No agent matches. <a href="/app/agents">Show all</a>
            </p>
          )}
          {agents.length === 0 && (
            <p class="empty">
              There is no agent yet. Builds wait until one of your machines runs them.{" "}
              {canChange && <a href="/app/agents/new">Add the first one</a>}
            </p>
          )}
        </>
      ),
    };
  },
};

const drainForm = (path: string, isDraining: boolean): Form => ({
  path,
  access: updateAgent.access,
  page: agentsPage,
  async submit(context, { params, query }) {
    await updateAgent.run(context, { ...byId(params.id), body: { isDraining } });
    return { to: addressOf(query, { page: query.get("page") ?? "" }), notice: isDraining ? "draining" : "resumed" };
  },
});

const remove = confirmRemoval({
  path: "/agents/:id/remove",
  section: "agents",
  access: { role: "maintainer" },
  verb: "remove",
  async question(context, id) {
    const { name, currentBuildId } = await getAgent.run(context, byId(id));
    const consequences = (
      <>
        {currentBuildId && (
          <>
            <a href={`/app/builds/${currentBuildId}`}>The build it runs</a> returns to the queue at once.{" "}
          </>
        )}
        Its token becomes invalid. To connect the machine again, register it again.
      </>
    );
    return { name, consequences, back: "/app/agents", next: "/app/agents" };
  },
  remove: (context, id) => deleteAgent.run(context, byId(id)),
});

export const agentPages: Page[] = [agentsPage, remove.page];

export const agentForms: Form[] = [
  drainForm("/agents/:id/drain", true),
  drainForm("/agents/:id/resume", false),
  remove.form,
];
