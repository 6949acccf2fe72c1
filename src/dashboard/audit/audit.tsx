import { type AuditEntry, AuditFilter } from "../../protocol/audit.ts";
import { listAgents } from "../../services/agents/agents.ts";
import { type IdsByKind, type Named, readNames } from "../../services/builds/names.ts";
import { listAudit } from "../../services/tokens/audit.ts";
import { FilterNotice, filledFields, readFilter, toTime } from "../parts/list-filter.tsx";
import { Table } from "../parts/lists.tsx";
import { ClockTime } from "../parts/time.tsx";
import type { Page, Pages } from "../shell/page-definition.ts";
import { noInput } from "../shell/verb-input.ts";

type Names = Map<string, { kind: Named["kind"] | "agent"; name: string }>;

/** The path of each kind's page. Tokens have no page. */
const PAGES: Partial<Record<Named["kind"] | "agent", string>> = {
  build: "builds",
  job: "jobs",
  variable: "variables",
  group: "groups",
  repository: "repositories",
  pipeline: "pipelines",
  connection: "connections",
  schedule: "schedules",
  agent: "agents",
};
const SHORT_CHARACTERS = 8;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Shows a removed record by its kind and the end of its id. */
const Gone = ({ kind, id }: { kind: string; id: string }) => (
  <span title={id} class="hint">
    {kind} {id.slice(-SHORT_CHARACTERS)}
  </span>
);

/** Shows the actor `token:ID` or `agent:ID` by the present name of the token or agent, if it still has one. */
const Actor = ({ actor, names }: { actor: string; names: Names }) => {
  const [kind = "", id = ""] = actor.split(":");
  const holder = names.get(id);
  if (!holder && UUID.test(id)) return <Gone kind={kind} id={id} />;
  if (!holder) return <>{actor}</>;
  return (
    <>
      <bdi>{holder.name}</bdi> ({kind})
    </>
  );
};

const Subject = ({ entry: { action, subject }, names }: { entry: AuditEntry; names: Names }) => {
  const thing = names.get(subject);
  const [noun = ""] = action.split(".");
  if (!thing) return UUID.test(subject) ? <Gone kind={noun} id={subject} /> : <bdi>{subject}</bdi>;
  const page = PAGES[thing.kind];
  const name = <bdi>{thing.name}</bdi>;
  return (
    <>
      {page ? <a href={`/app/${page}/${subject}`}>{name}</a> : name}
      {thing.kind === "job" && <span class="hint"> (job)</span>}
    </>
  );
};

/** The kind of an action's subject, for actions whose names do not contain it. */
const KINDS: Record<string, Named["kind"]> = {
  credential: "repository",
  artifact: "job",
  cache: "repository",
  log: "build",
};

/** Returns the ids that the entries contain, by kind. */
const namedIn = (entries: AuditEntry[]): IdsByKind => {
  const ids = entries.flatMap(({ actor, action, subject }) => {
    const [kind = "", id = ""] = actor.split(":");
    const [noun = ""] = action.split(".");
    return [
      { kind, id },
      { kind: KINDS[noun] ?? noun, id: subject },
    ];
  });
  const byKind = Map.groupBy(
    ids.filter(({ id }) => UUID.test(id)),
    ({ kind }) => kind,
  );
  return Object.fromEntries([...byKind].map(([kind, things]) => [kind, things.map(({ id }) => id)]));
};

const FILTERS = ["actor", "action", "subject", "since", "until", "cursor"];

const readAuditFilter = (query: URLSearchParams) => {
  const filled = Object.entries(filledFields(query, FILTERS));
  const times = filled.map(([name, value]) => [name, toTime(value)]);
  return readFilter(AuditFilter, Object.fromEntries(times));
};

const capitalize = (name: string): string => name[0]?.toUpperCase() + name.slice(1);

const Filter = ({ query }: { query: URLSearchParams }) => (
  <form method="get" action="/app/audit" class="filter">
    {["actor", "action", "subject"].map((name) => (
      <label>
        <span class="sr">{name}</span>
        <input
          type="text"
          name={name}
          placeholder={capitalize(name)}
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

const Entry = ({ entry, names }: { entry: AuditEntry; names: Names }) => (
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
    const { filter, errors } = readAuditFilter(query);
    const [{ value: entries, nextCursor }, agents] = await Promise.all([
      listAudit.answer(context, { ...noInput, query: filter }),
      listAgents.run(context, noInput),
    ]);
    const names: Names = new Map(await readNames(context, namedIn(entries)));
    for (const { id, name } of agents) names.set(id, { kind: "agent", name });
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
            <p class="empty">No matching entries</p>
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

export const auditPages: Pages = [page];
