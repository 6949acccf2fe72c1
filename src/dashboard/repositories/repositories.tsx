import { PIPELINE_DEFAULTS, type Pipeline } from "../../protocol/pipeline.ts";
import type { Repository } from "../../protocol/repository.ts";
import { listPipelines } from "../../services/repositories/pipelines.ts";
import { computeNumber, connectRepository, listRepositories } from "../../services/repositories/repositories.ts";
import { FormPage } from "../parts/form-page.tsx";
import { filterByText, NoMatch, TextFilter } from "../parts/list-filter.tsx";
import { formOn, hasRole, type Page, type Pages } from "../shell/page-definition.ts";
import { noInput, parseBody, withBody } from "../shell/verb-input.ts";
import { RepositoryFields, readRepository } from "./repository-fields.tsx";

/** The maximum number of pipelines that a row names. The repository's page lists all pipelines. */
const NAMED = 6;

const Row = ({ repository, pipelines }: { repository: Repository; pipelines: Pipeline[] }) => (
  <li class="row repository-row" data-row>
    <a href={`/app/repositories/${repository.id}`} class="what">
      <bdi>{repository.fullName}</bdi>
    </a>
    <span class="pipelines">
      {pipelines.slice(0, NAMED).map(({ id, name }) => (
        <a href={`/app/pipelines/${id}`}>
          <bdi>{name}</bdi>
        </a>
      ))}
      {pipelines.length > NAMED && <span class="hint">and {pipelines.length - NAMED} more</span>}
      {pipelines.length === 0 && <span class="hint">builds {PIPELINE_DEFAULTS.configPath}</span>}
      {!repository.isActive && <span class="label">inactive</span>}
    </span>
    <span class="ref">
      <span class="branch">{repository.cloneUrl}</span>
    </span>
  </li>
);

const listPage: Page = {
  path: "/repositories",
  role: "viewer",
  async show(context, { query }) {
    const [all, pipelines] = await Promise.all([
      listRepositories.run(context, noInput),
      listPipelines.run(context, noInput),
    ]);
    const byRepository = Map.groupBy(pipelines, ({ repoId }) => repoId);
    const repositories = filterByText(all, query, ({ id, fullName, cloneUrl }) => [
      fullName,
      cloneUrl,
      ...(byRepository.get(id) ?? []).map(({ name }) => name),
    ]);
    const canConnect = hasRole(context, "maintainer");
    return {
      title: "Repositories",
      section: "repositories",
      body: (
        <>
          <div class="head">
            <h1>Repositories</h1>
            {all.length > 0 && <TextFilter path="/app/repositories" query={query} label="Name or pipeline" />}
            {canConnect && (
              <a class="button primary" href="/app/repositories/new">
                Connect repository
              </a>
            )}
          </div>
          <ol class="rows">
            {repositories.map((repository) => (
              <Row repository={repository} pipelines={byRepository.get(repository.id) ?? []} />
            ))}
          </ol>
          {all.length > 0 && repositories.length === 0 && <NoMatch noun="repository" href="/app/repositories" />}
          {all.length === 0 && (
            <p class="empty">
              No repositories connected yet. {canConnect && <a href="/app/repositories/new">Connect the first one</a>}
            </p>
          )}
        </>
      ),
    };
  },
};

const newPage: Page = {
  path: "/repositories/new",
  role: "maintainer",
  async show(context, request) {
    await context.admit();
    return {
      title: "Connect a repository",
      section: "repositories",
      body: (
        <FormPage heading="Connect a repository" request={request} submit="Connect">
          <RepositoryFields request={request} />
        </FormPage>
      ),
    };
  },
};

const connectForm = formOn(newPage, connectRepository, async (context, { form }) => {
  const fields = readRepository(form);
  const gitHostRepoId = fields.gitHostRepoId ?? (await computeNumber(fields.cloneUrl));
  const body = parseBody(connectRepository.body, { ...fields, gitHostRepoId });
  const { id } = await connectRepository.run(context, withBody(body));
  return { to: `/app/repositories/${id}`, notice: "connected" };
});

export const repositoriesPages: Pages = [listPage, newPage, connectForm];
