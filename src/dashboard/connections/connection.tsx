import type { Connection } from "../../protocol/connection.ts";
import type { Repository } from "../../protocol/repository.ts";
import { deleteConnection } from "../../services/connections/connection-removal.ts";
import { getConnection, updateConnection } from "../../services/connections/connections.ts";
import { listRepositories } from "../../services/repositories/repositories.ts";
import {
  CheckField,
  readFlag,
  readRequiredText,
  readText,
  SecretField,
  TextField,
  VersionField,
} from "../parts/fields.tsx";
import { ProblemNotice, StackedForm } from "../parts/form-page.tsx";
import { confirmRemoval } from "../shell/confirm-removal.tsx";
import { formOn, hasRole, type Page, type PageRequest, type Pages } from "../shell/page-definition.ts";
import { byId, noInput, parseBody } from "../shell/verb-input.ts";
import { GIT_HOSTS } from "./git-hosts.tsx";

export const Facts = ({ connection }: { connection: Connection }) => (
  <p class="facts">
    <span>{GIT_HOSTS[connection.kind].title}</span>
    <a href={connection.webUrl} rel="noreferrer">
      {connection.webUrl}
    </a>
    {connection.auth === "app" && (
      <span>
        GitHub App, <bdi>{connection.account ?? "not installed"}</bdi>
      </span>
    )}
    {connection.hasToken && (
      <span>
        token of <bdi>{connection.account ?? "an account"}</bdi>
      </span>
    )}
    {connection.auth === "none" && <span>manual webhooks, no build states</span>}
    {!connection.isActive && <span class="label">inactive</span>}
  </p>
);

const Repositories = ({ connection, repositories }: { connection: Connection; repositories: Repository[] }) => (
  <section class="part">
    <div class="head">
      <h2>Repositories</h2>
      <a class="button primary" href={`/app/connections/${connection.id}/repositories`}>
        Add repositories
      </a>
    </div>
    <ol class="rows">
      {repositories.map(({ id, fullName, hasHook }) => (
        <li class="row repository-row" data-row>
          <a href={`/app/repositories/${id}`} class="what">
            {fullName}
          </a>
          <span class="ref">{hasHook ? "webhook by Millrace" : "manual webhook"}</span>
        </li>
      ))}
    </ol>
    {repositories.length === 0 && (
      <p class="empty">
        No repositories connected yet, so pushes start no builds.{" "}
        <a href={`/app/connections/${connection.id}/repositories`}>Add the first one</a>
      </p>
    )}
  </section>
);

/** Shows the admin's forms. The first form requires facts that no other page shows. */
const HookByHand = ({ connection }: { connection: Connection }) => (
  <section>
    <h2>Webhook</h2>
    {GIT_HOSTS[connection.kind].hasApps && (
      <p>
        <a class="button" href={`/app/connections/${connection.id}/app`}>
          {connection.auth === "app" ? "GitHub App" : "Switch to a GitHub App"}
        </a>
      </p>
    )}
    <p>
      {connection.auth === "app"
        ? "GitHub sends the events of all the App's repositories to this connection. Rotate the webhook when someone should no longer know its secret."
        : connection.hasToken
          ? "Millrace creates the webhooks of the repositories that you add. If the token cannot manage a repository's webhooks, create that webhook by hand."
          : `In each ${GIT_HOSTS[connection.kind].title} repository, create a webhook with this connection's URL and secret.`}
    </p>
    <div class="actions">
      <form method="post" action={`/app/connections/${connection.id}/hook`}>
        <button type="submit">Show URL and secret</button>
      </form>
      <a class="button" href={`/app/connections/${connection.id}/rotate`}>
        Rotate
      </a>
    </div>
    <p class="hint">The audit log records who views them, each time.</p>
  </section>
);

interface SettingsProps {
  request: PageRequest;
  connection: Connection;
  version: number | null;
}

const Settings = ({ request, connection, version }: SettingsProps) => (
  <section>
    <h2>Settings</h2>
    <StackedForm submit="Save">
      <VersionField version={version} />
      <TextField request={request} name="name" label="Name" value={connection.name} required />
      <TextField request={request} name="webUrl" label="URL" type="url" value={connection.webUrl} required />
      <TextField
        request={request}
        name="apiUrl"
        label="API URL"
        type="url"
        value={connection.apiUrl}
        hint="Leave the field empty to derive it from the URL."
      />
      <SecretField
        request={request}
        name="token"
        label={connection.hasToken ? "New token" : "Token"}
        hint={
          <>
            {GIT_HOSTS[connection.kind].token}{" "}
            {connection.hasToken && "Leave the field empty to keep the stored token, unless a URL changes."}
          </>
        }
      />
      {connection.hasToken && (
        <CheckField
          request={request}
          name="forgetsToken"
          label="Delete the token"
          hint="Webhooks stay as they are. Build states are no longer sent."
          on={false}
        />
      )}
      <CheckField request={request} name="isActive" label="Active: deliveries are accepted" on={connection.isActive} />
    </StackedForm>
    <p>
      <a class="button danger" href={`/app/connections/${connection.id}/delete`}>
        Delete connection
      </a>
    </p>
  </section>
);

export const connectionPage: Page = {
  path: "/connections/:id",
  role: "maintainer",
  async show(context, request) {
    const [{ value: connection, version }, all] = await Promise.all([
      getConnection.answer(context, byId(request.params.id)),
      listRepositories.run(context, noInput),
    ]);
    const repositories = all.filter(({ connectionId }) => connectionId === connection.id);
    return {
      title: connection.name,
      section: "connections",
      body: (
        <>
          <ProblemNotice request={request} />
          <div class="head">
            <h1>{connection.name}</h1>
            <a class="button" href={`/app/connections/${connection.id}/deliveries`}>
              Deliveries
            </a>
            <a class="button" href={`/app/connections/${connection.id}/check`}>
              Check
            </a>
          </div>
          <Facts connection={connection} />
          <Repositories connection={connection} repositories={repositories} />
          {hasRole(context, "admin") && (
            <div class="column">
              <HookByHand connection={connection} />
              <Settings request={request} connection={connection} version={version} />
            </div>
          )}
        </>
      ),
    };
  },
};

/** Returns the new token. Undefined keeps the stored token; null deletes it. */
const readToken = (form: URLSearchParams): string | null | undefined =>
  readFlag(form, "forgetsToken") ? null : (readText(form, "token") ?? undefined);

const saveForm = formOn(connectionPage, updateConnection, async (context, { params, form }) => {
  const { webUrl, apiUrl } = await getConnection.run(context, byId(params.id));
  const addresses = { webUrl: readRequiredText(form, "webUrl"), apiUrl: readText(form, "apiUrl") };
  const body = parseBody(updateConnection.body, {
    name: readRequiredText(form, "name"),
    // If the person did not enter the API's address, it changes together with the pages' address.
    webUrl: addresses.webUrl === webUrl ? undefined : addresses.webUrl,
    apiUrl: addresses.apiUrl === null || addresses.apiUrl === apiUrl ? undefined : addresses.apiUrl,
    token: readToken(form),
    isActive: readFlag(form, "isActive"),
  });
  await updateConnection.run(context, { ...byId(params.id), body });
  return { to: `/app/connections/${params.id}`, notice: "saved" };
});

const remove = confirmRemoval({
  path: "/connections/:id/delete",
  section: "connections",
  access: { role: "admin" },
  verb: "delete",
  async question(context, id) {
    const [{ name, auth }, all] = await Promise.all([
      getConnection.run(context, byId(id)),
      listRepositories.run(context, noInput),
    ]);
    const linked = all.filter(({ connectionId }) => connectionId === id).length;
    const hooks = {
      app: "The App is uninstalled from all repositories. Delete it on GitHub.",
      token: "This also removes its webhooks at the host.",
      none: "Remove its webhooks at the host by hand.",
    }[auth];
    const consequences = `Its repositories (${linked}), their pipelines and builds are kept, but pushes no longer start builds and build states are no longer sent. ${hooks}`;
    return { name, consequences, back: `/app/connections/${id}`, next: "/app/connections" };
  },
  remove: (context, id) => deleteConnection.run(context, byId(id)),
});

export const connectionPages: Pages = [connectionPage, ...remove, saveForm];
