import type { Agent } from "../../protocol/agent.ts";
import { withCommas } from "../../protocol/units.ts";
import {
  agentRuns,
  deleteAgent,
  getAgent,
  jsonMetrics,
  listAgents,
  pipelinesOfLate,
  updateAgent,
} from "../../services/agents/agents.ts";
import { ProblemNotice } from "../parts/form-page.tsx";
import { count } from "../parts/format.ts";
import { NoMatch } from "../parts/list-filter.tsx";
import { RelativeTime } from "../parts/time.tsx";
import { confirmRemoval } from "../shell/confirm-removal.tsx";
import { formAt, hasRole, type Page, type Pages } from "../shell/page-definition.ts";
import { byId, noInput } from "../shell/verb-input.ts";
import { AGENT_STATES, type AgentSelection, platformTitle, selectAgents } from "./agent-list.ts";
import { AgentRow, HOW_TO_UPDATE } from "./agent-row.tsx";
import { AgentStrip, QueuePanel } from "./fleet.tsx";

const LISTED = 20;

interface LongGoneProps {
  agents: Agent[];
  now: Date;
  /** The address of the list of all offline agents. */
  all: string;
}

/** Shows agents that sent no heartbeat for a week. The list is folded at first. */
export const LongGone = ({ agents, now, all }: LongGoneProps) =>
  agents.length === 0 ? null : (
    <details class="long-gone" id="long-gone">
      <summary>{count(agents.length, "agent")} not seen for over a week</summary>
      <ul class="rows">
        {agents.slice(0, LISTED).map(({ id, name, lastHeartbeatAt, ...agent }) => (
          <li class="row" data-row>
            <span class="agent-name">
              <a href={`/app/agents/${id}`}>
                <bdi>{name}</bdi>
              </a>{" "}
              <span class="why">
                {platformTitle(agent)}, seen <RelativeTime at={lastHeartbeatAt} now={now} />
              </span>
            </span>
          </li>
        ))}
      </ul>
      <p class="more">
        <a href={all}>All offline agents</a>
      </p>
    </details>
  );

const REFRESH_SECONDS = 5;

/** Returns the page's address with some of its filters changed. */
const addressWith = (query: URLSearchParams, change: Record<string, string>): string => {
  const [q = "", state = "", version = ""] = ["q", "state", "version"].map((name) => query.get(name) ?? "");
  const filters = { q, state, version, ...change };
  const search = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== ""));
  return search.size > 0 ? `/app/agents?${search}` : "/app/agents";
};

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
    {query.get("version") === "older" && <input type="hidden" name="version" value="older" />}
    <button type="submit">Filter</button>
  </form>
);

interface CountsProps extends Pick<AgentSelection, "counts" | "older"> {
  query: URLSearchParams;
}

const Counts = ({ query, counts, older }: CountsProps) => (
  <p class="facts" id="agent-counts">
    {[...counts].map(([state, count]) => (
      <a href={addressWith(query, { state })}>
        {withCommas(count)} {state}
      </a>
    ))}
    {older > 0 && (
      <a href={addressWith(query, { version: "older" })} title={HOW_TO_UPDATE}>
        {withCommas(older)} outdated
      </a>
    )}
  </p>
);

const Pager = ({ query, page, pages }: { query: URLSearchParams; page: number; pages: number }) =>
  pages === 1 ? null : (
    <p class="more actions">
      {page > 1 && <a href={addressWith(query, { page: String(page - 1) })}>Previous</a>}
      <span class="hint">
        Page {page} of {pages}
      </span>
      {page < pages && <a href={addressWith(query, { page: String(page + 1) })}>Next</a>}
    </p>
  );

const agentsPage: Page = {
  path: "/agents",
  role: "viewer",
  async show(context, { query, problem }) {
    const listed = listAgents.run(context, noInput).then((agents) => selectAgents(agents, query, context.now));
    const [selection, metrics, pipelines] = await Promise.all([
      listed,
      jsonMetrics.run(context, { ...noInput, query: undefined }),
      pipelinesOfLate(context),
    ]);
    const { counts, rows, longGone, page, pages, total } = selection;
    const ran = await agentRuns(
      context,
      rows.map(({ id }) => id),
    );
    const runs = Map.groupBy(ran, ({ agentId }) => agentId);
    const canChange = hasRole(context, "maintainer");
    const here = addressWith(query, page > 1 ? { page: String(page) } : {});
    return {
      title: "Fleet",
      section: "agents",
      refreshSeconds: REFRESH_SECONDS,
      body: (
        <>
          <ProblemNotice request={{ problem, form: null }} />
          <div class="head">
            <h1>Fleet</h1>
            {total > 0 && <Filter query={query} />}
            {canChange && (
              <a class="button primary" href="/app/agents/new">
                Add agent
              </a>
            )}
          </div>
          {total > 0 && <AgentStrip counts={counts} addressFor={(state) => addressWith(query, { state })} />}
          {total > 0 && <Counts query={query} {...selection} />}
          <div class="fleet">
            <section aria-labelledby="agents-title">
              <h2 id="agents-title">Agents</h2>
              <ol class="rows" id="agents">
                {rows.map((agent) => (
                  <AgentRow
                    agent={agent}
                    runs={runs.get(agent.id) ?? []}
                    pipelines={pipelines}
                    now={context.now}
                    canChange={canChange}
                    search={here.slice("/app/agents".length)}
                  />
                ))}
              </ol>
              <Pager query={query} page={page} pages={pages} />
              {page === pages && (
                <LongGone agents={longGone} now={context.now} all={addressWith(query, { state: "offline" })} />
              )}
              {total > 0 && rows.length + longGone.length === 0 && <NoMatch noun="agent" href="/app/agents" />}
              {total === 0 && (
                <p class="empty">
                  No agents yet. Builds wait until one of your machines runs them.{" "}
                  {canChange && <a href="/app/agents/new">Add the first one</a>}
                </p>
              )}
            </section>
            <QueuePanel metrics={metrics} />
          </div>
        </>
      ),
    };
  },
};

/** Returns the address of the list with the person's filters and page. */
const backTo = (query: URLSearchParams): string => addressWith(query, { page: query.get("page") ?? "" });

/** Returns the page that the person came from: the agent's page, or the list with its filters. */
const backFrom = (id: string, query: URLSearchParams): string =>
  query.has("own") ? `/app/agents/${id}` : backTo(query);

const drainForm = (path: string, isDraining: boolean) =>
  formAt(path, agentsPage, updateAgent, async (context, { params, query }) => {
    await updateAgent.run(context, { ...byId(params.id), body: { isDraining } });
    return { to: backFrom(params.id ?? "", query), notice: isDraining ? "draining" : "resumed" };
  });

const remove = confirmRemoval({
  path: "/agents/:id/remove",
  section: "agents",
  access: { role: "maintainer" },
  verb: "remove",
  async question(context, id, { query }) {
    const { name, currentBuildId } = await getAgent.run(context, byId(id));
    const consequences = (
      <>
        {currentBuildId && (
          <>
            <a href={`/app/builds/${currentBuildId}`}>Its current build</a> returns to the queue at once.{" "}
          </>
        )}
        Its token becomes invalid. To use the machine again, register it again.
      </>
    );
    return { name, consequences, back: backFrom(id, query), next: backTo(query) };
  },
  remove: (context, id) => deleteAgent.run(context, byId(id)),
});

export const agentPages: Pages = [
  agentsPage,
  ...remove,
  drainForm("/agents/:id/drain", true),
  drainForm("/agents/:id/resume", false),
];
