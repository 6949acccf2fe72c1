import type { Connection } from "../../protocol/connection.ts";
import { PIPELINE_DEFAULTS, type Pipeline } from "../../protocol/pipeline.ts";
import type { Repository } from "../../protocol/repository.ts";
import { listConnections } from "../../services/connections/connections.ts";
import type { Context } from "../../services/core/context.ts";
import { deleteCredential, setCredential } from "../../services/repositories/credentials.ts";
import { listPipelines } from "../../services/repositories/pipelines.ts";
import { deleteRepository, getRepository, updateRepository } from "../../services/repositories/repositories.ts";
import { CheckField, readFlag, readText, SecretField, SelectField, TextField, VersionField } from "../parts/fields.tsx";
import { ProblemNotice, StackedForm } from "../parts/form-page.tsx";
import { TargetLinks } from "../parts/target-links.tsx";
import { confirmRemoval } from "../shell/confirm-removal.tsx";
import { formAt, formOn, hasRole, type Page, type PageRequest, type Pages } from "../shell/page-definition.ts";
import { byId, noInput, parseBody } from "../shell/verb-input.ts";
import { RepositoryFields, readRepository, readSources, SourceFields } from "./repository-fields.tsx";

const PipelineRow = ({ pipeline, isDefault }: { pipeline: Pipeline; isDefault: boolean }) => (
  <li class="row repository-row" data-row>
    <a href={`/app/pipelines/${pipeline.id}`} class="what">
      {pipeline.name}
    </a>
    <span class="ref">{pipeline.definition === null ? pipeline.configPath : "defined here"}</span>
    <span class="progress">
      {isDefault && <span class="label">default</span>}
      {!pipeline.isActive && <span class="label">inactive</span>}
    </span>
  </li>
);

interface PipelinesProps {
  repository: Repository;
  pipelines: Pipeline[];
  canChange: boolean;
}

const Pipelines = ({ repository, pipelines, canChange }: PipelinesProps) => (
  <section>
    <div class="head">
      <h2>Pipelines</h2>
      {canChange && (
        <a class="button" href={`/app/repositories/${repository.id}/pipelines/new`}>
          Add pipeline
        </a>
      )}
    </div>
    <ol class="rows">
      {pipelines.map((pipeline) => (
        <PipelineRow pipeline={pipeline} isDefault={pipeline.id === repository.defaultPipelineId} />
      ))}
    </ol>
    {pipelines.length === 0 && (
      <p class="empty">
        No pipelines yet{repository.connectionId !== null && ", so pushes start no builds"}. A build that you run uses{" "}
        <code>{PIPELINE_DEFAULTS.configPath}</code> from its commit.{" "}
        {canChange && <a href={`/app/repositories/${repository.id}/pipelines/new`}>Add the first one</a>}
      </p>
    )}
  </section>
);

interface SettingsProps {
  request: PageRequest;
  repository: Repository;
  pipelines: Pipeline[];
  connections: Connection[];
  version: number | null;
}

const Settings = ({ request, repository, pipelines, connections, version }: SettingsProps) => (
  <section>
    <h2>Settings</h2>
    <StackedForm submit="Save">
      <VersionField version={version} />
      <RepositoryFields request={request} repository={repository} />
      <SelectField
        request={request}
        name="defaultPipelineId"
        label="Default pipeline"
        value={repository.defaultPipelineId}
        choices={[
          { value: "", label: `none: use ${PIPELINE_DEFAULTS.configPath} from the commit` },
          ...pipelines.map(({ id, name }) => ({ value: id, label: name })),
        ]}
      />
      <SelectField
        request={request}
        name="connectionId"
        label="Connection"
        value={repository.connectionId}
        choices={[
          { value: "", label: "none: only manual runs, the API and schedules start builds" },
          ...connections.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        hint="The git host that sends push events. To create the webhook, add the repository on the connection's page."
      />
      <SourceFields request={request} repository={repository} />
      <CheckField request={request} name="isActive" label="Active: builds can be triggered" on={repository.isActive} />
    </StackedForm>
  </section>
);

const CredentialForm = ({ request, repository }: { request: PageRequest; repository: Repository }) => (
  <section>
    <h2>Clone credential</h2>
    <p class="hint">
      Stored encrypted, used only by git fetch, masked in logs and never shown again. Without a credential, agents clone
      with their own git settings.
    </p>
    <form method="post" action={`/app/repositories/${repository.id}/credential`} class="stack">
      {/^https?:/i.test(repository.cloneUrl) ? (
        <>
          <input type="hidden" name="kind" value="token" />
          <TextField request={request} name="username" label="Username, if the host requires one" />
        </>
      ) : (
        <input type="hidden" name="kind" value="ssh-key" />
      )}
      <SecretField request={request} name="value" label="Token or private key" required />
      <span class="actions">
        <button type="submit">{repository.hasCredential ? "Replace credential" : "Set credential"}</button>
        {repository.hasCredential && (
          <a class="button danger" href={`/app/repositories/${repository.id}/credential/remove`}>
            Remove credential
          </a>
        )}
      </span>
    </form>
  </section>
);

/** Returns the organization's connections, if the person may see them. */
const readConnections = async (context: Context): Promise<Connection[]> => {
  await context.admit();
  return hasRole(context, "maintainer") ? listConnections.run(context, noInput) : [];
};

const page: Page = {
  path: "/repositories/:id",
  role: "viewer",
  async show(context, request) {
    const [{ value: repository, version }, pipelines, connections] = await Promise.all([
      getRepository.answer(context, byId(request.params.id)),
      listPipelines.run(context, { ...noInput, query: { repoId: request.params.id ?? "" } }),
      readConnections(context),
    ]);
    const canChange = hasRole(context, "maintainer");
    const connection = connections.find(({ id }) => id === repository.connectionId);
    return {
      title: repository.fullName,
      section: "repositories",
      body: (
        <>
          <ProblemNotice request={request} />
          <div class="head">
            <h1>{repository.fullName}</h1>
            <TargetLinks scope="repository" id={repository.id} canRun={hasRole(context, "member")} />
          </div>
          <p class="facts">
            <code>{repository.cloneUrl}</code>
            <span>default branch {repository.defaultBranch}</span>
            <a href={`/app/repositories/${repository.id}/cache`}>Cache</a>{" "}
            <a href={`/app/repositories/${repository.id}/flaky`}>Flaky tests</a>
            {connection && (
              <span>
                connection <a href={`/app/connections/${connection.id}`}>{connection.name}</a>
                {!repository.hasHook && ", manual webhook"}
              </span>
            )}
            {repository.connectionId === null && <span>not connected to a git host</span>}
            {!repository.isActive && <span class="label">inactive</span>}
          </p>
          <Pipelines repository={repository} pipelines={pipelines} canChange={canChange} />
          {canChange && (
            <div class="column">
              <Settings
                request={request}
                repository={repository}
                pipelines={pipelines}
                connections={connections}
                version={version}
              />
              <CredentialForm request={request} repository={repository} />
              <section>
                <h2>Remove this repository</h2>
                <p class="hint">This also removes its pipelines and variables. Builds and their logs are kept.</p>
                <a class="button danger" href={`/app/repositories/${repository.id}/remove`}>
                  Remove repository
                </a>
              </section>
            </div>
          )}
        </>
      ),
    };
  },
};

const saveForm = formOn(page, updateRepository, async (context, { params, form }) => {
  const body = parseBody(updateRepository.body, {
    ...readRepository(form),
    ...readSources(form),
    defaultPipelineId: readText(form, "defaultPipelineId"),
    connectionId: readText(form, "connectionId"),
    isActive: readFlag(form, "isActive"),
  });
  await updateRepository.run(context, { ...byId(params.id), body });
  return { to: `/app/repositories/${params.id}`, notice: "saved" };
});

const credentialForm = formAt(
  "/repositories/:id/credential",
  page,
  setCredential,
  async (context, { params, form }) => {
    const fields = {
      kind: form.get("kind"),
      username: readText(form, "username"),
      value: form.get("value") ?? "",
    };
    await setCredential.run(context, { ...byId(params.id), body: parseBody(setCredential.body, fields) });
    return { to: `/app/repositories/${params.id}`, notice: "saved" };
  },
);

const remove = confirmRemoval({
  path: "/repositories/:id/remove",
  section: "repositories",
  access: { role: "maintainer" },
  verb: "remove",
  async question(context, id) {
    const { fullName } = await getRepository.run(context, byId(id));
    const consequences =
      "This also removes its credential, its variables, its pipelines and their variables. Builds and their logs are kept.";
    return { name: fullName, consequences, back: `/app/repositories/${id}`, next: "/app/repositories" };
  },
  remove: (context, id) => deleteRepository.run(context, byId(id)),
});

const removeCredentialPage = confirmRemoval({
  path: "/repositories/:id/credential/remove",
  section: "repositories",
  access: { role: "maintainer" },
  verb: "remove",
  async question(context, id) {
    const { fullName } = await getRepository.run(context, byId(id));
    const repositoryPage = `/app/repositories/${id}`;
    return {
      name: `the credential of ${fullName}`,
      consequences: "Agents then clone with their own git settings.",
      back: repositoryPage,
      next: repositoryPage,
    };
  },
  remove: (context, id) => deleteCredential.run(context, byId(id)),
});

export const repositoryPages: Pages = [page, ...remove, ...removeCredentialPage, saveForm, credentialForm];
