import { type AuditEntry, AuditFilter } from "../../protocol/audit.ts";
import { listAgents } from "../../services/agents.ts";
import { listAudit } from "../../services/audit.ts";
import { buildNames } from "../../services/build-names.ts";
import { listTokens } from "../../services/tokens.ts";
import { FilterNotice } from "../components/filter-notice.tsx";
import { Table } from "../components/table.tsx";
import { ClockTime } from "../components/time.tsx";
import { filledFields, readFilter } from "../list-filter.ts";
import type { Page } from "../page-definition.ts";
import { namesById, noInput } from "../verb-input.ts";

/** The page of a subject, by the noun of the action. */
const NOUN_PAGES: Record<string, string> = {
  build: "builds",
  job: "jobs",
  variable: "variables",
  group: "groups",
  repository: "repositories",
  pipeline: "pipelines",
  connection: "connections",
  schedule: "schedules",
};

/** The actor `token:ID` or `agent:ID` by its present name, if it still has one. */
const Actor = ({ actor, names }: { actor: string; names: Map<string, string> }) => {
  const [kind, id] = actor.split(":");
  const name = id === undefined ? undefined : names.get(id);
  if (name === undefined) return <>{actor}</>;
  return (
    <>
      <bdi>{name}</bdi> ({kind})
    </>
  );
};

const Subject = ({ entry: { action, subject }, names }: { entry: AuditEntry; names: Map<string, string> }) => {
  const [noun = "", verb] = action.split(".");
  const page = verb === "delete" ? undefined : NOUN_PAGES[noun];
  const name = names.get(subject) ?? (subject.length > 20 ? subject.slice(-8) : subject);
  return page ? <a href={`/app/${page}/${subject}`}>{name}</a> : name;
};

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const FILTERS = ["actor", "action", "subject", "since", "until", "cursor"];

/** The filters of the address. A day begins at midnight UTC. */
const filterOf = (query: URLSearchParams) => {
  const filled = Object.entries(filledFields(query, FILTERS));
  const times = filled.map(([name, value]) => [name, DAY.test(value) ? `${value}T00:00:00Z` : value]);
  return readFilter(AuditFilter, Object.fromEntries(times));
};

const titleOf = (name: string): string => name[0]?.toUpperCase() + name.slice(1);

const Filter = ({ query }: { query: URLSearchParams }) => (
  <form method="get" action="/app/audit" class="filter">
    {["actor", "action", "subject"].map((name) => (
      <label>
        <span class="sr">{name}</span>
        <input
          type="text"
          name={name}
          placeholder={titleOf(name)}
          value={query.get(name) ?? ""}
          data-key={name === "actor" ? "/" : undefined}
        />
      </label>
    ))}
    {["since", "until"].map((name) => (
      <label>
        <span class="sr">{name}</span>
        <input type="date" name={name} value={query.get(name) ?? ""} title={name} />
      </label>
    ))}
    <button type="submit">Filter</button>
  </form>
);

const Entry = ({ entry, names }: { entry: AuditEntry; names: Map<string, string> }) => (
  <tr data-row tabindex={-1}>
    <td>
      <ClockTime at={entry.at} />
    </td>
    <td>
      <a href={`/app/audit?actor=${encodeURIComponent(entry.actor)}`}>
        <Actor actor={entry.actor} names={names} />
      </a>
    </td>
    <td>
      <code>{entry.action}</code>
    </td>
    <td>
      <Subject entry={entry} names={names} />
    </td>
    <td>
      <details>
        <summary>details</summary>
        <pre>{JSON.stringify({ ...entry.detail, requestId: entry.requestId }, null, 2)}</pre>
      </details>
    </td>
  </tr>
);

const page: Page = {
  path: "/audit",
  role: "admin",
  async show(context, { query }) {
    const { filter, errors } = filterOf(query);
    const [{ value: entries, nextCursor }, tokens, agents] = await Promise.all([
      listAudit.answer(context, { ...noInput, query: filter }),
      listTokens.run(context, noInput),
      listAgents.run(context, noInput),
    ]);
    const name = (record: { name: string }) => record.name;
    const builds = entries.filter(({ action }) => action.startsWith("build.")).map(({ subject }) => subject);
    const names = new Map([
      ...namesById(tokens, name),
      ...namesById(agents, name),
      ...(await buildNames(context, builds)),
    ]);
    const older = new URLSearchParams(query);
    if (nextCursor) older.set("cursor", nextCursor);
    return {
      title: "Audit",
      section: "audit",
      body: (
        <>
          <FilterNotice errors={errors} />
          <div class="head">
            <h1>Audit</h1>
            <Filter query={query} />
          </div>
          {entries.length > 0 ? (
            <Table columns={["Time", "Actor", "Action", "Subject", "Details"]}>
              {entries.map((entry) => (
                <Entry entry={entry} names={names} />
              ))}
            </Table>
          ) : (
            <p class="empty">No entry matches.</p>
          )}
          {nextCursor && (
            <p class="more">
              <a href={`/app/audit?${older}`}>Older entries</a>
            </p>
          )}
        </>
      ),
    };
  },
};

export const auditPages: Page[] = [page];
