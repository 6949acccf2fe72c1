import type { Pipeline } from "../../protocol/pipeline.ts";
import type { Repository } from "../../protocol/repository.ts";
import { removeCredential, setCredential } from "../../services/credentials.ts";
import { listPipelines } from "../../services/pipelines.ts";
import { getRepository, removeRepository, updateRepository } from "../../services/repositories.ts";
import { CheckField, SecretField, SelectField, TextField, VersionField } from "../components/fields.tsx";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { confirmRemoval } from "../confirm-removal.tsx";
import { readFlag, readText } from "../form-fields.ts";
import type { Form, Page, PageRequest } from "../page-definition.ts";
import { hasRole } from "../permissions.ts";
import { byId, noInput, parseBody } from "../verb-input.ts";
import { RepositoryFields, readRepository } from "./repositories.tsx";

const Pipelines = ({ of, pipelines, canChange }: { of: Repository; pipelines: Pipeline[]; canChange: boolean }) => (
  <section>
    <div class="head">
      <h2>Pipelines</h2>
      {canChange && (
        <a class="button" href={`/app/repositories/${of.id}/pipelines/new`}>
          Add pipeline
        </a>
      )}
    </div>
    <ol class="rows">
      {pipelines.map(({ id, name, definition, configPath, isActive }) => (
        <li class="row repository-row" data-row>
          <a href={`/app/pipelines/${id}`} class="what">
            {name}
          </a>
          <span class="ref">{definition === null ? configPath : "defined here"}</span>
          <span class="progress">
            {id === of.defaultPipelineId && <span class="label">default</span>}
            {!isActive && <span class="label">inactive</span>}
          </span>
        </li>
      ))}
    </ol>
    {pipelines.length === 0 && (
      <p class="empty">
        No pipeline: a build runs <code>.millrace.yml</code> of its commit.
      </p>
    )}
  </section>
);

const Settings = ({ request, of, pipelines, version }: SettingsParts) => (
  <section>
    <h2>Settings</h2>
    <form method="post" class="stack">
      <VersionField of={version} />
      <RepositoryFields request={request} of={of} />
      <SelectField
        request={request}
        name="defaultPipelineId"
        label="Default pipeline"
        value={of.defaultPipelineId}
        choices={[
          { value: "", label: "none: .millrace.yml of the commit" },
          ...pipelines.map(({ id, name }) => ({ value: id, label: name })),
        ]}
      />
      <CheckField request={request} name="isActive" label="Active: builds can be triggered" on={of.isActive} />
      <button type="submit" class="primary">
        Save
      </button>
    </form>
  </section>
);

interface SettingsParts {
  request: PageRequest;
  of: Repository;
  pipelines: Pipeline[];
  version: number | null;
}

const CredentialForm = ({ request, of }: { request: PageRequest; of: Repository }) => (
  <section>
    <h2>Credential for a private clone</h2>
    <p class="hint">
      Sealed, given to the fetch alone, masked in logs, and never shown again. Without one the agent's own git settings
      decide.
    </p>
    <form method="post" action={`/app/repositories/${of.id}/credential`} class="stack">
      {/^https?:/i.test(of.cloneUrl) ? (
        <>
          <input type="hidden" name="kind" value="token" />
          <TextField request={request} name="username" label="User name, if the host wants one" />
        </>
      ) : (
        <input type="hidden" name="kind" value="ssh-key" />
      )}
      <SecretField request={request} name="value" label="Token or private key" required />
      <span class="actions">
        <button type="submit">Set credential</button>
        <a class="button danger" href={`/app/repositories/${of.id}/credential/remove`}>
          Remove the credential
        </a>
      </span>
    </form>
  </section>
);

const page: Page = {
  path: "/repositories/:id",
  role: "viewer",
  async show(context, request) {
    const [repository, pipelines] = await Promise.all([
      getRepository.run(context, byId(request.params.id)),
      listPipelines.run(context, { ...noInput, query: { repoId: request.params.id ?? "" } }),
    ]);
    const { version } = context;
    const canChange = hasRole(context, "maintainer");
    return {
      title: repository.fullName,
      section: "repositories",
      body: (
        <>
          <ProblemNotice request={request} />
          <div class="head">
            <h1>{repository.fullName}</h1>
            <a class="button" href={`/app/builds?repoId=${repository.id}`}>
              Builds
            </a>
            <a class="button" href={`/app/variables?owner=repository:${repository.id}`}>
              Variables
            </a>
            {hasRole(context, "member") && (
              <a class="button primary" href={`/app/builds/new?repoId=${repository.id}`}>
                Run build
              </a>
            )}
          </div>
          <p class="facts">
            <code>{repository.cloneUrl}</code>
            <span>default branch {repository.defaultBranch}</span>
            {!repository.isActive && <span class="label">inactive</span>}
          </p>
          <Pipelines of={repository} pipelines={pipelines} canChange={canChange} />
          {canChange && (
            <div class="column">
              <Settings request={request} of={repository} pipelines={pipelines} version={version} />
              <CredentialForm request={request} of={repository} />
              <p>
                <a class="button danger" href={`/app/repositories/${repository.id}/remove`}>
                  Remove repository
                </a>
              </p>
            </div>
          )}
        </>
      ),
    };
  },
};

const saveForm: Form = {
  path: page.path,
  access: updateRepository.access,
  page,
  async submit(context, { params, form }) {
    const change = { defaultPipelineId: readText(form, "defaultPipelineId"), isActive: readFlag(form, "isActive") };
    const body = parseBody(updateRepository.body, { ...readRepository(form), ...change });
    await updateRepository.run(context, { ...byId(params.id), body });
    return { to: `/app/repositories/${params.id}`, notice: "saved" };
  },
};

const credentialForm: Form = {
  path: "/repositories/:id/credential",
  access: setCredential.access,
  page,
  async submit(context, { params, form }) {
    const sent = {
      kind: form.get("kind"),
      username: readText(form, "username"),
      value: form.get("value") ?? "",
    };
    await setCredential.run(context, { ...byId(params.id), body: parseBody(setCredential.body, sent) });
    return { to: `/app/repositories/${params.id}`, notice: "saved" };
  },
};

const remove = confirmRemoval({
  path: "/repositories/:id/remove",
  section: "repositories",
  access: { role: "maintainer" },
  verb: "remove",
  async question(context, id) {
    const { fullName } = await getRepository.run(context, byId(id));
    const consequences =
      "Its pipelines, their variables and its own, and its credential go with it. Builds and logs stay.";
    return { name: fullName, consequences, back: `/app/repositories/${id}`, next: "/app/repositories" };
  },
  remove: (context, id) => removeRepository.run(context, byId(id)),
});

const dropCredential = confirmRemoval({
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
  remove: (context, id) => removeCredential.run(context, byId(id)),
});

export const repositoryPages: Page[] = [page, remove.page, dropCredential.page];
export const repositoryForms: Form[] = [saveForm, credentialForm, remove.form, dropCredential.form];
