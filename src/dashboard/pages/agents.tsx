import type { Agent } from "../../protocol/agent.ts";
import { deleteAgent, getAgent, listAgents, updateAgent } from "../../services/agents.ts";
import { byId, nothing } from "../ask.ts";
import { AGENT_STATES, fleetOf, platformOf, skillsOf, stateOf } from "../fleet.ts";
import { may } from "../may.ts";
import type { Form, Page } from "../page.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { Ago } from "../parts/time.tsx";
import { removal } from "../removal.tsx";

const AGAIN = 5;

/** A state is a shape, a word and a colour: full for idle, half for draining, turning for busy, hollow for offline. */
const AgentState = ({ agent }: { agent: Agent }) => {
  const state = stateOf(agent);
  return (
    <span class={`agent-state agent-${state}`}>
      <span class="sign" aria-hidden="true"></span>
      {state}
    </span>
  );
};

/** The page itself again, with another filter. */
const addressOf = (query: URLSearchParams, change: Record<string, string>): string => {
  const given = { q: query.get("q") ?? "", state: query.get("state") ?? "", ...change };
  const wanted = new URLSearchParams(Object.entries(given).filter(([, value]) => value !== ""));
  return wanted.size > 0 ? `/app/agents?${wanted}` : "/app/agents";
};

type RowParts = { agent: Agent; now: Date; canChange: boolean; search: string };

const Row = ({ agent, now, canChange, search }: RowParts) => (
  <li id={`a-${agent.id}`} class="row agent-row" data-row tabindex={-1}>
    <AgentState agent={agent} />
    <span class="agent-name">
      <strong>{agent.name}</strong>{" "}
      <span class="why">
        {platformOf(agent)}
        {agent.isEphemeral && ", one build only"}
      </span>
    </span>
    <span class="labels">
      {skillsOf(agent).map((label) => (
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
      <div class="actions">
        <form method="post" action={`/app/agents/${agent.id}/${agent.isDraining ? "resume" : "drain"}${search}`}>
          <button type="submit" class="quiet" aria-label={`${agent.isDraining ? "Resume" : "Drain"} ${agent.name}`}>
            {agent.isDraining ? "Resume" : "Drain"}
          </button>
        </form>
        <a class="button quiet" href={`/app/agents/${agent.id}/remove`} aria-label={`Remove ${agent.name}`}>
          Remove
        </a>
      </div>
    )}
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

const Counts = ({ query, counts }: { query: URLSearchParams; counts: ReturnType<typeof fleetOf>["counts"] }) => (
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

export const agentsPage: Page = {
  path: "/agents",
  role: "viewer",
  async show(context, { query, problem }) {
    const agents = await listAgents.run(context, nothing);
    const canChange = may(context, "maintainer");
    const { counts, shown, page, pages } = fleetOf(agents, query);
    const here = addressOf(query, page > 1 ? { page: String(page) } : {});
    return {
      ...{ title: "Agents", section: "agents", again: AGAIN },
      body: (
        <>
          <ProblemNotice asked={{ problem, entered: null }} />
          <div class="head">
            <h1>Agents</h1>
            {agents.length > 0 && <Filter query={query} />}
            {canChange && (
              <a class="button primary" href="/app/agents/new">
                Add agent
              </a>
            )}
          </div>
          {agents.length > 0 && <Counts query={query} counts={counts} />}
          <ol class="rows" id="agents">
            {shown.map((agent) => (
              <Row {...{ agent, now: context.now, canChange, search: here.slice("/app/agents".length) }} />
            ))}
          </ol>
          <Pager {...{ query, page, pages }} />
          {agents.length > 0 && shown.length === 0 && (
            <p class="empty">
              No agent matches. <a href="/app/agents">Show all</a>
            </p>
          )}
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
  async act(context, { params, query }) {
    await updateAgent.run(context, { ...byId(params.id), body: { isDraining } });
    return { to: addressOf(query, { page: query.get("page") ?? "" }), done: isDraining ? "draining" : "resumed" };
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
  remove: (context, id) => deleteAgent.run(context, byId(id)),
});

export const agentPages: Page[] = [agentsPage, remove.page];

export const agentForms: Form[] = [
  drainForm("/agents/:id/drain", true),
  drainForm("/agents/:id/resume", false),
  remove.form,
];
