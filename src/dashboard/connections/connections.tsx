import type { Connection, HostKind } from "../../protocol/connection.ts";
import { createConnection, listConnections } from "../../services/connections/connections.ts";
import { readRequiredText, SecretField, TextField } from "../parts/fields.tsx";
import { FormPage } from "../parts/form-page.tsx";
import { filterByText, NoMatch, TextFilter } from "../parts/list-filter.tsx";
import { formOn, hasRole, type Page, type PageRequest, type Pages } from "../shell/page-definition.ts";
import { noInput, parseBody, withBody } from "../shell/verb-input.ts";
import { GIT_HOSTS, HOST_KINDS, kindNamed } from "./git-hosts.tsx";

const HOW: Record<Connection["auth"], string> = { app: "GitHub App", token: "token", none: "manual webhooks" };

const Row = ({ connection }: { connection: Connection }) => (
  <li class="row repository-row" data-row>
    <a href={`/app/connections/${connection.id}`} class="what">
      {connection.name}
    </a>
    <span class="ref">
      <span class="branch">{connection.webUrl}</span>
    </span>
    <span class="progress">
      {HOW[connection.auth]}
      {!connection.isActive && <span class="label">inactive</span>}
    </span>
  </li>
);

const Empty = ({ canConnect }: { canConnect: boolean }) => (
  <p class="empty">
    No git hosts connected yet, so pushes start no builds.{" "}
    {canConnect ? <a href="/app/connections/new">Connect the first one</a> : "Ask an admin to connect one."}
  </p>
);

const listPage: Page = {
  path: "/connections",
  role: "maintainer",
  async show(context, { query }) {
    const all = await listConnections.run(context, noInput);
    const connections = filterByText(all, query, ({ name, webUrl }) => [name, webUrl]);
    const canConnect = hasRole(context, "admin");
    return {
      title: "Connections",
      section: "connections",
      body: (
        <>
          <div class="head">
            <h1>Connections</h1>
            {all.length > 0 && <TextFilter path="/app/connections" query={query} label="Name or URL" />}
            {canConnect && (
              <a class="button primary" href="/app/connections/new">
                Connect a git host
              </a>
            )}
          </div>
          <ol class="rows">
            {connections.map((connection) => (
              <Row connection={connection} />
            ))}
          </ol>
          {all.length > 0 && connections.length === 0 && <NoMatch noun="connection" href="/app/connections" />}
          {all.length === 0 && <Empty canConnect={canConnect} />}
        </>
      ),
    };
  },
};

const HostCards = () => (
  <div class="column">
    <h1>Connect a git host</h1>
    <p>Pushes, tags and pull requests then start builds, and their commits show the build states.</p>
    <ul class="cards">
      {HOST_KINDS.map((kind) => (
        <li class="card">
          <a href={`/app/connections/new?kind=${kind}`}>{GIT_HOSTS[kind].title}</a>
          <span class="hint">{GIT_HOSTS[kind].reach}</span>
        </li>
      ))}
    </ul>
  </div>
);

const APP_WAY = {
  value: "app",
  label: "With your own GitHub App",
  hint: "You create it on GitHub in two clicks. It belongs to no person, and clones private repositories with one-hour tokens.",
};
const WAYS = [
  {
    value: "token",
    label: "With a token",
    hint: "Millrace lists your repositories, creates their webhooks, and reports the state of each build to the host. Agents do not clone with the token: give each private repository its own credential, on its page.",
  },
  {
    value: "hand",
    label: "With manual webhooks",
    hint: "You create the webhook of each repository with a URL and a secret. The host gets no build states, and each private repository needs its own credential.",
  },
];

/** Returns the ways to connect, with the best way first. */
const listWays = (kind: HostKind) => (GIT_HOSTS[kind].hasApps ? [APP_WAY, ...WAYS] : WAYS);

const WayField = ({ request: { form }, kind }: { request: PageRequest; kind: HostKind }) => (
  <fieldset class="field ways">
    <legend>How to connect</legend>
    {listWays(kind).map(({ value, label, hint }) => (
      <div>
        <label class="check">
          <input
            type="radio"
            name="way"
            value={value}
            checked={(form?.get("way") ?? listWays(kind)[0]?.value) === value}
          />{" "}
          {label}
        </label>
        <p class="hint">{hint}</p>
      </div>
    ))}
  </fieldset>
);

const NewConnectionForm = ({ request, kind }: { request: PageRequest; kind: HostKind }) => {
  const { title, address, token, guide } = GIT_HOSTS[kind];
  return (
    <FormPage heading={`Connect ${title}`} request={request} submit="Connect">
      <input type="hidden" name="kind" value={kind} />
      <TextField request={request} name="name" label="Name" value={title} required />
      <TextField
        request={request}
        name="webUrl"
        label="URL"
        type="url"
        value={address}
        placeholder="https://git.example"
        required
        hint="The URL of the host's pages, without a repository name."
      />
      <WayField request={request} kind={kind} />
      <p class="hint">
        See the <a href={guide}>{title} guide</a> for what each option needs.
      </p>
      <div class="token-way">
        <SecretField
          request={request}
          name="token"
          label="Token"
          hint={<>{token} It is stored encrypted and never shown again. Millrace checks it with the host at once.</>}
        />
      </div>
    </FormPage>
  );
};

const newPage: Page = {
  path: "/connections/new",
  role: "admin",
  async show(context, request) {
    await context.admit();
    const kind = kindNamed(request.form?.get("kind") ?? request.query.get("kind"));
    return {
      title: "Connect a git host",
      section: "connections",
      body: kind ? <NewConnectionForm request={request} kind={kind} /> : <HostCards />,
    };
  },
};

/** The page that follows each way to connect. */
const NEXT: Record<string, string> = { app: "/app", hand: "" };

const createForm = formOn(newPage, createConnection, async (context, { form }) => {
  const way = form.get("way");
  const body = parseBody(createConnection.body, {
    kind: form.get("kind"),
    name: readRequiredText(form, "name"),
    webUrl: readRequiredText(form, "webUrl"),
    token: way === "hand" || way === "app" ? undefined : readRequiredText(form, "token"),
  });
  const { id } = await createConnection.run(context, withBody(body));
  return {
    to: `/app/connections/${id}${NEXT[way ?? ""] ?? "/repositories"}`,
    notice: "host-connected",
  };
});

export const connectionsPages: Pages = [listPage, newPage, createForm];
