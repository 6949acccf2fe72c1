import { PIPELINE_DEFAULTS } from "../../protocol/pipeline.ts";
import type { Repository } from "../../protocol/repository.ts";
import { listPipelines } from "../../services/pipelines.ts";
import { connectRepository, listRepositories, numberOf } from "../../services/repositories.ts";
import { checked, nothing, withBody } from "../ask.ts";
import { numberIn, textIn } from "../entered.ts";
import { may } from "../may.ts";
import type { Asked, Form, Page } from "../page.ts";
import { TextField } from "../parts/field.tsx";
import { matching, NameFilter } from "../parts/name-filter.tsx";
import { ProblemNotice } from "../parts/problem.tsx";

const Row = ({ repository, pipelines }: { repository: Repository; pipelines: number }) => (
  <li class="row repository-row" data-row>
    <a href={`/app/repositories/${repository.id}`} class="what">
      {repository.fullName}
    </a>
    <span class="ref">
      <span class="branch">{repository.cloneUrl}</span>
    </span>
    <span class="progress">
      {pipelines === 0
        ? `builds ${PIPELINE_DEFAULTS.configPath}`
        : `${pipelines} ${pipelines === 1 ? "pipeline" : "pipelines"}`}
      {!repository.isActive && <span class="label">inactive</span>}
    </span>
  </li>
);

export const repositoriesPage: Page = {
  path: "/repositories",
  role: "viewer",
  async show(context, { query }) {
    const [all, pipelines] = await Promise.all([
      listRepositories.run(context, nothing),
      listPipelines.run(context, nothing),
    ]);
    const byRepository = Map.groupBy(pipelines, ({ repoId }) => repoId);
    const repositories = matching(all, query, ({ fullName, cloneUrl }) => [fullName, cloneUrl]);
    const canConnect = may(context, "maintainer");
    return {
      ...{ title: "Repositories", section: "repositories" },
      body: (
        <>
          <div class="head">
            <h1>Repositories</h1>
            {all.length > 0 && <NameFilter path="/app/repositories" query={query} label="Name or address" />}
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
export const RepositoryFields = ({ asked, of }: { asked: Asked; of?: Repository }) => (
  <>
    <TextField {...{ asked, name: "fullName", label: "Name", value: of?.fullName, required: true }} hint="owner/repo" />
    <TextField
      {...{ asked, name: "cloneUrl", label: "Clone address", value: of?.cloneUrl, required: true }}
      hint="As the host gives it for git clone, https://git.example.com/owner/repo.git or git@git.example.com:owner/repo.git. No password in it: a private one gets a credential."
    />
    <TextField
      {...{ asked, name: "gitHostRepoId", label: "Number at the git host", value: of?.gitHostRepoId ?? null }}
      {...{ type: "number", min: 0 }}
      hint={
        <>
          It knows the repository again when names change, and is there once for each git host. GitHub:{" "}
          <code>gh api repos/OWNER/REPO --jq .id</code>; GitLab: the project id; elsewhere any number of your own.{" "}
          {of ? "Empty keeps the one it has." : "Empty makes one from the clone address."}
        </>
      }
    />
    <TextField
      {...{ asked, name: "defaultBranch", label: "Default branch", value: of?.defaultBranch ?? "main", required: true }}
    />
  </>
);

export const repositoryIn = (entered: URLSearchParams) => ({
  fullName: entered.get("fullName")?.trim() ?? "",
  cloneUrl: entered.get("cloneUrl")?.trim() ?? "",
  gitHostRepoId: numberIn(entered, "gitHostRepoId") ?? undefined,
  defaultBranch: textIn(entered, "defaultBranch") ?? undefined,
});

const newPage: Page = {
  path: "/repositories/new",
  role: "maintainer",
  async show(context, asked) {
    await context.admit();
    return {
      ...{ title: "Connect a repository", section: "repositories" },
      body: (
        <div class="column">
          <h1>Connect a repository</h1>
          <ProblemNotice asked={asked} />
          <form method="post" class="stack">
            <RepositoryFields asked={asked} />
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
  ...{ path: newPage.path, access: connectRepository.access, page: newPage },
  async act(context, { entered }) {
    const given = repositoryIn(entered);
    const gitHostRepoId = given.gitHostRepoId ?? (await numberOf(given.cloneUrl));
    const body = checked(connectRepository.body, { ...given, gitHostRepoId });
    const { id } = await connectRepository.run(context, withBody(body));
    return { to: `/app/repositories/${id}`, done: "connected" };
  },
};

export const repositoriesPages: Page[] = [repositoriesPage, newPage];
export const repositoriesForms: Form[] = [connectForm];
