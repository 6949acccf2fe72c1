import { type AuditEntry, AuditFilter } from "../../protocol/audit.ts";
import { listAgents } from "../../services/agents.ts";
import { listAudit } from "../../services/audit.ts";
import { listTokens } from "../../services/tokens.ts";
import { namesOf, nothing } from "../ask.ts";
import type { Page } from "../page.ts";
import { Ago } from "../parts/time.tsx";

const NOUN_PAGES: Record<string, string> = {
  ...{ build: "builds", variable: "variables", group: "groups", repository: "repositories", pipeline: "pipelines" },
};

/** `token:ID` and `agent:ID` by the names they have now. */
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

const Subject = ({ action, subject }: AuditEntry) => {
  const [noun = "", verb] = action.split(".");
  const page = verb === "delete" ? undefined : NOUN_PAGES[noun];
  const short = subject.length > 20 ? subject.slice(-8) : subject;
  return page ? <a href={`/app/${page}/${subject}`}>{short}</a> : short;
};

const filterOf = (query: URLSearchParams) => {
  const given = ["actor", "action", "subject", "since", "until", "cursor"].flatMap((name) => {
    const value = query.get(name)?.trim();
    if (!value) return [];
    const day = /^\d{4}-\d{2}-\d{2}$/.test(value) ? `${value}T00:00:00Z` : value;
    return [[name, day]];
  });
  const parsed = AuditFilter.safeParse(Object.fromEntries(given));
  return parsed.success ? parsed.data : {};
};

const Filter = ({ query }: { query: URLSearchParams }) => (
  <form method="get" action="/app/audit" class="filter">
    {["actor", "action", "subject"].map((name) => (
      <label>
        <span class="sr">{name}</span>
        <input
          name={name}
          placeholder={name}
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

const Entries = ({ entries, names, now }: { entries: AuditEntry[]; names: Map<string, string>; now: Date }) => (
  <div class="wide">
    <table>
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">Who</th>
          <th scope="col">Did</th>
          <th scope="col">To</th>
          <th scope="col">Details</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr data-row tabindex={-1}>
            <td>
              <Ago at={entry.at} now={now} />
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
              <Subject {...entry} />
            </td>
            <td>
              <details>
                <summary>details</summary>
                <pre>{JSON.stringify({ ...entry.detail, requestId: entry.requestId }, null, 2)}</pre>
              </details>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const page: Page = {
  path: "/audit",
  role: "admin",
  async show(context, { query }) {
    const [{ value: entries, nextCursor }, tokens, agents] = await Promise.all([
      listAudit.answer(context, { ...nothing, query: filterOf(query) }),
      listTokens.run(context, nothing),
      listAgents.run(context, nothing),
    ]);
    const name = (record: { name: string }) => record.name;
    const names = new Map([...namesOf(tokens, name), ...namesOf(agents, name)]);
    const older = new URLSearchParams(query);
    if (nextCursor) older.set("cursor", nextCursor);
    return {
      ...{ title: "Audit", section: "audit" },
      body: (
        <>
          <div class="head">
            <h1>Audit</h1>
            <Filter query={query} />
          </div>
          {entries.length > 0 ? (
            <Entries entries={entries} names={names} now={context.now} />
          ) : (
            <p class="empty">Nothing happened that this filter shows.</p>
          )}
          {nextCursor && (
            <p class="more">
              <a href={`/app/audit?${older}`}>Earlier</a>
            </p>
          )}
        </>
      ),
    };
  },
};

export const auditPages: Page[] = [page];
