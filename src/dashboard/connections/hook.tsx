import type { Connection, HookOutcome } from "../../protocol/connection.ts";
import { rotateConnection, showHook } from "../../services/connections/connection-hooks.ts";
import { getConnection } from "../../services/connections/connections.ts";
import { Copyable } from "../parts/copied-code.tsx";
import { ProblemNotice } from "../parts/form-page.tsx";
import { formAt, formOn, type Page, type Pages, type View } from "../shell/page-definition.ts";
import { byId } from "../shell/verb-input.ts";
import { connectionPage } from "./connection.tsx";
import { GIT_HOSTS } from "./git-hosts.tsx";

const Steps = ({ connection }: { connection: Connection }) => {
  const { hookPath, hookSteps, guide } = GIT_HOSTS[connection.kind];
  return (
    <>
      <ol class="steps-to-do">
        <li>
          Open{" "}
          <code>
            {connection.webUrl}/<em>owner/repository</em>/{hookPath}
          </code>{" "}
          for the repository.
        </li>
        {hookSteps.map((step) => (
          <li>{step}</li>
        ))}
      </ol>
      <p class="hint">
        See the <a href={guide}>guide</a> for details.
      </p>
    </>
  );
};

/**
 * Shows the secret, which no other page shows. This page is the answer to a form, because browsers do not store such an
 * answer and no link opens the page.
 */
const hookView = (connection: Connection, { url, secret }: { url: string; secret: string }): View => ({
  title: "Webhook",
  section: "connections",
  body: (
    <div class="column">
      <h1>
        Webhook for <bdi>{connection.name}</bdi>
      </h1>
      <Steps connection={connection} />
      <h2>URL</h2>
      <Copyable text={url} />
      <h2>Secret</h2>
      <Copyable text={secret} />
      <p class="hint">
        Anyone who knows both can start builds of the branches in this connection's repositories. Rotate them when
        someone should not.
      </p>
      <p>
        <a class="button primary" href={`/app/connections/${connection.id}/deliveries`}>
          View deliveries
        </a>
      </p>
    </div>
  ),
});

const showForm = formAt("/connections/:id/hook", connectionPage, showHook, async (context, { params }) => {
  const id = byId(params.id);
  const connection = await getConnection.run(context, id);
  return hookView(connection, await showHook.run(context, { ...id, query: undefined }));
});

export const HookOutcomes = ({ hooks }: { hooks: HookOutcome[] }) => (
  <ul class="outcomes">
    {hooks.map(({ repositoryId, fullName, problem }) => (
      <li>
        <a href={`/app/repositories/${repositoryId}`}>{fullName}</a>{" "}
        {problem === null ? <span class="tone-good">in place</span> : <span class="outcome">{problem}</span>}
      </li>
    ))}
  </ul>
);

const rotatePage: Page = {
  path: "/connections/:id/rotate",
  role: "admin",
  async show(context, request) {
    const { id, name, auth } = await getConnection.run(context, byId(request.params.id));
    return {
      title: `Rotate the webhook for ${name}`,
      section: "connections",
      body: (
        <div class="column">
          <ProblemNotice request={{ problem: request.problem, form: null }} />
          <h1>
            Rotate the webhook for <bdi>{name}</bdi>?
          </h1>
          <p>
            It gets a new URL and a new secret. The old ones are rejected at once.{" "}
            {auth !== "none"
              ? "Millrace updates the GitHub App, if there is one, and the webhooks that it created. Update manual webhooks yourself."
              : "Update every webhook at the host by hand. Until then, pushes start no builds."}
          </p>
          <form method="post" class="stack">
            <span class="actions">
              <button type="submit" class="danger">
                Rotate
              </button>
              <a class="button" href={`/app/connections/${id}`}>
                Cancel
              </a>
            </span>
          </form>
        </div>
      ),
    };
  },
};

const rotateForm = formOn(rotatePage, rotateConnection, async (context, { params }) => {
  const { id, name, hooks } = await rotateConnection.run(context, byId(params.id));
  if (hooks.every(({ problem }) => problem === null)) return { to: `/app/connections/${id}`, notice: "rotated" };
  return {
    title: "Webhook",
    section: "connections",
    body: (
      <div class="column">
        <h1>
          The webhook for <bdi>{name}</bdi> was rotated
        </h1>
        <p>
          The host did not accept the new webhook for every repository. Update these webhooks by hand, or rotate again:
        </p>
        <HookOutcomes hooks={hooks} />
        <p>
          <a class="button" href={`/app/connections/${id}`}>
            Back to the connection
          </a>
        </p>
      </div>
    ),
  };
});

export const hookPages: Pages = [rotatePage, showForm, rotateForm];
