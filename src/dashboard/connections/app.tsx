import type { Connection } from "../../protocol/connection.ts";
import { getConnection, updateConnection } from "../../services/connections/connections.ts";
import { beginApp, installConnection, takeApp } from "../../services/connections/github-app.ts";
import { readRequiredText, readText, SecretField, TextField } from "../parts/fields.tsx";
import { ProblemNotice } from "../parts/form-page.tsx";
import { formAt, formOn, type Page, type PageRequest, type Pages, type View } from "../shell/page-definition.ts";
import { byId, parseBody, withBody } from "../shell/verb-input.ts";
import { HookOutcomes } from "./hook.tsx";

/** The App's permissions by GitHub's names, each with GitHub's label and the reason why the App needs it. */
export const APP_PERMISSION_WORDS: Record<string, [title: string, reason: string]> = {
  checks: ["Checks: read and write", "to show builds as check runs, with their buttons"],
  statuses: ["Commit statuses: read and write", "to report build states without check runs"],
  contents: ["Contents: read-only", "to clone, with a one-hour token that reads a single repository"],
  merge_queues: ["Merge queues: read-only", "to receive merge queue events"],
  metadata: ["Metadata: read-only", "to list repositories and check who can write to them"],
  pull_requests: ["Pull requests: read-only", "to receive pull request events"],
};

interface PartProps {
  request: PageRequest;
  connection: Connection;
}

/** Shows the first of two buttons that lead to an App. GitHub shows the second one. */
const MakeApp = ({ request, connection }: PartProps) => (
  <section>
    <h2>Create an App</h2>
    <p>
      GitHub shows the App's name and asks you to confirm. The App is private. GitHub returns its key to Millrace, which
      stores it encrypted. In the repositories that you choose, the App requires:
    </p>
    <ul>
      {Object.values(APP_PERMISSION_WORDS).map(([name, reason]) => (
        <li>
          <strong>{name}</strong> {reason}
        </li>
      ))}
    </ul>
    <form method="post" class="stack" action={`/app/connections/${connection.id}/app`}>
      <TextField
        request={request}
        name="organization"
        label="GitHub organization"
        placeholder="acme"
        hint="The name in its URL. Leave the field empty for repositories of your own account."
      />
      <button type="submit" class="primary">
        Create the App
      </button>
    </form>
  </section>
);

const ExistingApp = ({ request, connection }: PartProps) => (
  <section>
    <h2>{connection.appId === null ? "Use an existing App" : "Replace the key"}</h2>
    <p class="hint">
      On GitHub: Settings, Developer settings, GitHub Apps, your App, <strong>Generate a private key</strong>. Millrace
      points the App's webhook to this connection.
    </p>
    <form method="post" class="stack" action={`/app/connections/${connection.id}/app/key`}>
      <TextField
        request={request}
        name="app/id"
        label="App ID"
        value={connection.appId}
        required={connection.appId === null}
      />
      <SecretField
        request={request}
        name="app/privateKey"
        label="Private key"
        rows={6}
        placeholder="-----BEGIN RSA PRIVATE KEY-----"
        required
        hint="The text of the .pem file. Stored encrypted and never shown again."
      />
      <button type="submit">Use this key</button>
    </form>
  </section>
);

const Installation = ({ connection }: { connection: Connection }) => (
  <section>
    <h2>Installation</h2>
    <p>
      {connection.installationId === null ? (
        "The App is not installed yet, so GitHub sends it no events. Install it for all repositories, or for selected ones."
      ) : (
        <>
          Installed for <bdi>{connection.account ?? "an account"}</bdi>. Add other repositories on GitHub.
        </>
      )}
    </p>
    <form method="post" action={`/app/connections/${connection.id}/installation`}>
      <button type="submit" class={connection.installationId === null ? "primary" : ""}>
        {connection.installationId === null ? "Install" : "Check again"}
      </button>
    </form>
  </section>
);

const appPage: Page = {
  path: "/connections/:id/app",
  role: "admin",
  async show(context, request) {
    await context.admit();
    const connection = await getConnection.run(context, byId(request.params.id));
    const hasApp = connection.auth === "app";
    return {
      title: "GitHub App",
      section: "connections",
      body: (
        <div class="column">
          <h1>
            GitHub App for <bdi>{connection.name}</bdi>
          </h1>
          <ProblemNotice request={request} />
          {hasApp ? <Installation connection={connection} /> : <MakeApp request={request} connection={connection} />}
          <ExistingApp request={request} connection={connection} />
          <p>
            <a class="button" href={`/app/connections/${connection.id}`}>
              Back to the connection
            </a>
          </p>
        </div>
      ),
    };
  },
};

/**
 * Shows a form whose target is GitHub, because GitHub accepts the App's manifest only from the person's own browser.
 */
const manifestView = (connectionId: string, { action, manifest }: { action: string; manifest: string }): View => ({
  title: "Create the App",
  section: "connections",
  formTarget: new URL(action).origin,
  body: (
    <div class="column">
      <h1>Continue to GitHub</h1>
      <p>
        On GitHub, confirm the App's name with <strong>Create GitHub App</strong>. GitHub then sends you back here. You
        must be an owner of the organization.
      </p>
      <form method="post" action={action} class="stack">
        <input type="hidden" name="manifest" value={manifest} />
        <span class="actions">
          <button type="submit" class="primary" autofocus>
            Continue to {new URL(action).host}
          </button>
          <a class="button" href={`/app/connections/${connectionId}/app`}>
            Cancel
          </a>
        </span>
      </form>
    </div>
  ),
});

const beginForm = formOn(appPage, beginApp, async (context, { params, form }) => {
  const body = parseBody(beginApp.body, { organization: readText(form, "organization") });
  const begun = await beginApp.run(context, { ...byId(params.id), body });
  return manifestView(params.id ?? "", begun);
});

const keyForm = formAt("/connections/:id/app/key", appPage, updateConnection, async (context, { params, form }) => {
  const id = readText(form, "app/id");
  const app = { ...(id === null ? {} : { id }), privateKey: readRequiredText(form, "app/privateKey") };
  const body = parseBody(updateConnection.body, { app });
  await updateConnection.run(context, { ...byId(params.id), body });
  return { to: `/app/connections/${params.id}/app`, notice: "saved" };
});

/**
 * The page after a visit to GitHub. Browsers cannot open it directly: GitHub sends people to a page that requires no
 * session.
 */
const afterGithub: Page = {
  path: "/connections/github/made",
  role: "admin",
  async show(context, request) {
    await context.admit();
    return {
      title: "GitHub App",
      section: "connections",
      body: (
        <div class="column">
          <h1>Could not connect the App</h1>
          <ProblemNotice request={{ problem: request.problem, form: null }} />
          <p>
            <a class="button primary" href="/app/connections">
              Back to connections
            </a>
          </p>
        </div>
      ),
    };
  },
};

const madeForm = formOn(afterGithub, takeApp, async (context, { form }) => {
  const body = parseBody(takeApp.body, { code: form.get("code") ?? "", state: form.get("state") ?? "" });
  const { id } = await takeApp.run(context, withBody(body));
  return { to: `/app/connections/${id}/app`, notice: "app-made" };
});

const installForm = formAt("/connections/:id/installation", appPage, installConnection, async (context, { params }) => {
  const { id, webUrl, installationId, pageUrl, hooks } = await installConnection.run(context, byId(params.id));
  const refusedHooks = hooks.filter(({ problem }) => problem !== null);
  if (installationId !== null && refusedHooks.length === 0) {
    return { to: `/app/connections/${id}/repositories`, notice: "app-installed" };
  }
  return {
    title: "GitHub App",
    section: "connections",
    body: (
      <div class="column">
        <h1>{installationId === null ? "Install the App" : "Older webhooks"}</h1>
        {refusedHooks.length > 0 && <HookOutcomes hooks={refusedHooks} />}
        {installationId === null && (
          <p>Choose the repositories on GitHub. GitHub then sends you back here. If it does not, press Check again.</p>
        )}
        <form method="post" action={`/app/connections/${id}/installation`}>
          <span class="actions">
            {pageUrl?.startsWith(`${webUrl}/`) && (
              <a class="button primary" href={`${pageUrl}/installations/new`} rel="noreferrer">
                Choose on GitHub
              </a>
            )}
            <button type="submit">Check again</button>
            <a class="button" href={`/app/connections/${id}`}>
              Back to the connection
            </a>
          </span>
        </form>
      </div>
    ),
  };
});

export const appPages: Pages = [appPage, beginForm, keyForm, madeForm, installForm];
