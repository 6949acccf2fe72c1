import type { Repository } from "../../protocol/repository.ts";
import { listPipelines } from "../../services/pipelines.ts";
import { connectRepository, listRepositories, numberOf } from "../../services/repositories.ts";
import { TextField } from "../components/fields.tsx";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { filterByText, TextFilter } from "../components/text-filter.tsx";
import { readNumber, readText } from "../form-fields.ts";
import type { Form, Page, PageRequest } from "../page-definition.ts";
import { hasRole } from "../permissions.ts";
import { noInput, parseBody, withBody } from "../verb-input.ts";

const Row = ({ repository, pipelines }: { repository: Repository; pipelines: number }) => (
  <li class="row repository-row" data-row>
    <a href={`/app/repositories/${repository.id}`} class="what">
      {repository.fullName}
    </a>
    <span class="ref">
      <span class="branch">{repository.cloneUrl}</span>
    </span>
    <span class="progress">
      {pipelines === 0 ? "builds .millrace.yml" : `${pipelines} ${pipelines === 1 ? "pipeline" : "pipelines"}`}
      {!repository.isActive && <span class="label">inactive</span>}
    </span>
  </li>
);

export const repositoriesPage: Page = {
  path: "/repositories",
  role: "viewer",
  async show(context, { query }) {
    const [all, pipelines] = await Promise.all([
      listRepositories.run(context, noInput),
      listPipelines.run(context, noInput),
    ]);
    const byRepository = Map.groupBy(pipelines, ({ repoId }) => repoId);
    const repositories = filterByText(all, query, ({ fullName, cloneUrl }) => [fullName, cloneUrl]);
    const canConnect = hasRole(context, "maintainer");
    return {
      title: "Repositories",
      section: "repositories",
      body: (
        <>
          <div class="head">
            <h1>Repositories</h1>
            {all.length > 0 && <TextFilter path="/app/repositories" query={query} label="Name or address" />}
            {canConnect && (
              <a class="button primary" href="/app/repositories/new">
                Connect repository
              </a>
            )}
          </div>
          <ol class="rows">
            {repositories.map((repository) => (
              <Row repository={repository} pipelines={byRepository.get(repository.id)?.length ?? 0} />
            ))}
          </ol>
          {all.length > 0 && repositories.length === 0 && (
            <p class="empty">
              No repository matches. <a href="/app/repositories">Show all</a>
            </p>
          )}
          {all.length === 0 && (
            <p class="empty">
              No repository is connected, so there is nothing to build.{" "}
              {canConnect && <a href="/app/repositories/new">Connect the first one</a>}
            </p>
          )}
        </>
      ),
    };
  },
};

/** The fields that connecting and editing share. */
export const RepositoryFields = ({ request, of }: { request: PageRequest; of?: Repository }) => (
  <>
    <TextField request={request} name="fullName" label="Name" value={of?.fullName} required hint="owner/repo" />
    <TextField
      request={request}
      name="cloneUrl"
      label="Clone address"
      value={of?.cloneUrl}
      required
      hint="As the host gives it for git clone, https://git.example.com/owner/repo.git or git@git.example.com:owner/repo.git. No password in it: a private one gets a credential."
    />
    <TextField
      request={request}
      name="gitHostRepoId"
      label="Number at the git host"
      value={of?.gitHostRepoId ?? null}
      type="number"
      min={0}
      hint={
        <>
          It knows the repository again when names change, and is there once for each git host. GitHub:{" "}
          <code>gh api repos/OWNER/REPO --jq .id</code>; GitLab: the project id; elsewhere any number of your own.{" "}
          {of ? "Empty keeps the one it has." : "Empty makes one from the clone address."}
        </>
      }
    />
    <TextField
      request={request}
      name="defaultBranch"
      label="Default branch"
      value={of?.defaultBranch ?? "main"}
      required
    />
  </>
);

export const readRepository = (form: URLSearchParams) => ({
  fullName: form.get("fullName")?.trim() ?? "",
  cloneUrl: form.get("cloneUrl")?.trim() ?? "",
  gitHostRepoId: readNumber(form, "gitHostRepoId") ?? undefined,
  defaultBranch: readText(form, "defaultBranch") ?? undefined,
});

const newPage: Page = {
  path: "/repositories/new",
  role: "maintainer",
  async show(context, request) {
    await context.admit();
    return {
      title: "Connect a repository",
      section: "repositories",
      body: (
        <div class="column">
          <h1>Connect a repository</h1>
          <ProblemNotice request={request} />
          <form method="post" class="stack">
            <RepositoryFields request={request} />
            <button type="submit" class="primary">
              Connect
            </button>
          </form>
        </div>
      ),
    };
  },
};

const connectForm: Form = {
  path: newPage.path,
  access: connectRepository.access,
  page: newPage,
  async submit(context, { form }) {
    const given = readRepository(form);
    const gitHostRepoId = given.gitHostRepoId ?? (await numberOf(given.cloneUrl));
    const body = parseBody(connectRepository.body, { ...given, gitHostRepoId });
    const { id } = await connectRepository.run(context, withBody(body));
    return { to: `/app/repositories/${id}`, notice: "connected" };
  },
};

export const repositoriesPages: Page[] = [repositoriesPage, newPage];
export const repositoriesForms: Form[] = [connectForm];
