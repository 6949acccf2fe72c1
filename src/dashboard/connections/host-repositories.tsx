import type { Connection, HostRepository } from "../../protocol/connection.ts";
import { listHostRepositories } from "../../services/connections/connection-repositories.ts";
import { getConnection } from "../../services/connections/connections.ts";
import type { Context } from "../../services/core/context.ts";
import { Refusal } from "../../services/core/refusal.ts";
import { linkRepository } from "../../services/repositories/repository-link.ts";
import { CheckField, readFlag, readNumber, readText, TextField } from "../parts/fields.tsx";
import { ProblemNotice, StackedForm } from "../parts/form-page.tsx";
import { filterByText, TextFilter } from "../parts/list-filter.tsx";
import { connectionTrail, formOn, type Page, type PageRequest, type Pages } from "../shell/page-definition.ts";
import { byId, parseBody } from "../shell/verb-input.ts";

interface AddFormProps {
  connectionId: string;
  repository: Pick<HostRepository, "hostRepoId" | "fullName" | "defaultBranch">;
  /** Whether the button shows the repository's name, because no text beside it does. */
  isNamed?: true;
}

/** Shows a button that connects one repository. The form also appears next to a delivery. */
export const AddForm = ({ connectionId, repository, isNamed }: AddFormProps) => (
  <form method="post" action={`/app/connections/${connectionId}/repositories`}>
    <input type="hidden" name="hostRepoId" value={repository.hostRepoId} />
    <input type="hidden" name="fullName" value={repository.fullName} />
    {repository.defaultBranch && <input type="hidden" name="defaultBranch" value={repository.defaultBranch} />}
    <button type="submit" aria-label={`Add ${repository.fullName}`}>
      {isNamed ? `Add ${repository.fullName}` : "Add"}
    </button>
  </form>
);

const Row = ({ connectionId, repository }: { connectionId: string; repository: HostRepository }) => (
  <li class="row repository-row" data-row>
    <span>{repository.fullName}</span>
    <span class="ref">
      {repository.isPrivate === true && <span class="label">private</span>}
      {repository.defaultBranch && <span class="branch">{repository.defaultBranch}</span>}
    </span>
    <div class="progress">
      {repository.repositoryId ? (
        <a href={`/app/repositories/${repository.repositoryId}`} aria-label={`${repository.fullName}, connected`}>
          connected
        </a>
      ) : (
        <AddForm connectionId={connectionId} repository={repository} />
      )}
    </div>
  </li>
);

/** Shows a form that adds a repository by name: one that no delivery has named yet, or one far down the host's list. */
const ByName = ({ request, connection }: { request: PageRequest; connection: Connection }) => (
  <section class="column">
    <h2>Add a repository by name</h2>
    <StackedForm submit="Add repository">
      <input type="hidden" name="byName" value="yes" />
      <TextField request={request} name="fullName" label="Name" required hint="owner/repo" />
      {connection.auth !== "none" && (
        <CheckField
          request={request}
          name="registersHook"
          label="Create its webhook"
          hint="If the token cannot create webhooks, switch this off and create the webhook by hand."
          on
        />
      )}
      {connection.auth === "none" && (
        <TextField
          request={request}
          name="hostRepoId"
          label="Repository ID at the git host"
          type="number"
          min={0}
          hint={
            <>
              GitHub: <code>gh api repos/OWNER/REPO --jq .id</code>. GitLab: the project ID. Gitea: <code>id</code> of{" "}
              <code>/api/v1/repos/OWNER/REPO</code>. Or create the webhook first: its first delivery contains the ID.
            </>
          }
        />
      )}
    </StackedForm>
  </section>
);

const Empty = ({ connection, isFiltered }: { connection: Connection; isFiltered: boolean }) => (
  <p class="empty">
    {isFiltered && (
      <>
        No repositories on this page match. <a href={`/app/connections/${connection.id}/repositories`}>Show all</a>
      </>
    )}
    {!isFiltered &&
      connection.auth !== "none" &&
      "The token has access to no repositories. Grant it access at the host."}
    {!isFiltered && connection.auth === "none" && (
      <>
        No deliveries yet. <a href={`/app/connections/${connection.id}`}>Create a repository's webhook</a> at the host.
        The repository appears here after its first delivery.
      </>
    )}
  </p>
);

interface Listed {
  repositories: HostRepository[];
  nextCursor: string | null | undefined;
  /** The reason why the host did not list its repositories. */
  problem: Refusal | null;
}

/** Lists the host's repositories. If the host refuses or is unreachable, the page says so and offers another way. */
const listAtHost = async (context: Context, id: string | undefined, cursor: string | null): Promise<Listed> => {
  const query = parseBody(listHostRepositories.query, { cursor: cursor ?? undefined });
  try {
    const { value, nextCursor } = await listHostRepositories.answer(context, { ...byId(id), query });
    return { repositories: value, nextCursor, problem: null };
  } catch (error) {
    if (!(error instanceof Refusal) || !(error.kind === "conflict" || error.kind === "unavailable")) throw error;
    return { repositories: [], nextCursor: undefined, problem: error };
  }
};

const page: Page = {
  path: "/connections/:id/repositories",
  role: "maintainer",
  async show(context, request) {
    const { query, params } = request;
    const connection = await getConnection.run(context, byId(params.id));
    const { repositories: all, nextCursor, problem } = await listAtHost(context, params.id, query.get("cursor"));
    const repositories = filterByText(all, query, ({ fullName }) => [fullName]);
    const path = `/app/connections/${connection.id}/repositories`;
    return {
      title: "Add repositories",
      section: "connections",
      trail: connectionTrail(connection),
      body: (
        <>
          <ProblemNotice request={request.problem ? request : { problem, form: null }} />
          <div class="head">
            <h1>Add repositories</h1>
            {all.length > 0 && <TextFilter path={path} query={query} label="Name" />}
          </div>
          <ol class="rows">
            {repositories.map((repository) => (
              <Row connectionId={connection.id} repository={repository} />
            ))}
          </ol>
          {repositories.length === 0 && !problem && <Empty connection={connection} isFiltered={all.length > 0} />}
          {nextCursor && (
            <p class="more">
              <a href={`${path}?${new URLSearchParams({ cursor: nextCursor })}`}>More repositories</a>
            </p>
          )}
          <ByName request={request} connection={connection} />
        </>
      ),
    };
  },
};

const addForm = formOn(page, linkRepository, async (context, { params, form }) => {
  const body = parseBody(linkRepository.body, {
    hostRepoId: readNumber(form, "hostRepoId") ?? undefined,
    fullName: readText(form, "fullName") ?? undefined,
    defaultBranch: readText(form, "defaultBranch") ?? undefined,
    registersHook: !form.has("byName") || readFlag(form, "registersHook"),
  });
  const { id } = await linkRepository.run(context, { ...byId(params.id), body });
  return { to: `/app/repositories/${id}`, notice: "connected" };
});

export const hostRepositoriesPages: Pages = [page, addForm];
