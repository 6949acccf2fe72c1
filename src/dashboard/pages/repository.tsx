import { PIPELINE_DEFAULTS, type Pipeline } from "../../protocol/pipeline.ts";
import type { Repository } from "../../protocol/repository.ts";
import { deleteCredential, setCredential } from "../../services/credentials.ts";
import { listPipelines } from "../../services/pipelines.ts";
import { deleteRepository, getRepository, updateRepository } from "../../services/repositories.ts";
import { byId, checked, nothing } from "../ask.ts";
import { flagIn, textIn } from "../entered.ts";
import { may } from "../may.ts";
import type { Asked, Form, Page } from "../page.ts";
import { CheckField, SecretField, SelectField, TextField, Version } from "../parts/field.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { removal } from "../removal.tsx";
import { RepositoryFields, repositoryIn } from "./repositories.tsx";

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
        No pipeline: a build runs <code>{PIPELINE_DEFAULTS.configPath}</code> of its commit.
      </p>
    )}
  </section>
);

const Settings = ({ asked, of, pipelines, version }: SettingsParts) => (
  <section>
    <h2>Settings</h2>
    <form method="post" class="stack">
      <Version of={version} />
      <RepositoryFields asked={asked} of={of} />
      <SelectField
        {...{ asked, name: "defaultPipelineId", label: "Default pipeline", value: of.defaultPipelineId }}
        choices={[
          { value: "", label: `none: ${PIPELINE_DEFAULTS.configPath} of the commit` },
          ...pipelines.map(({ id, name }) => ({ value: id, label: name })),
        ]}
      />
      <CheckField {...{ asked, name: "isActive", label: "Active: builds can be triggered", on: of.isActive }} />
      <button type="submit" class="primary">
        Save
      </button>
    </form>
  </section>
);

interface SettingsParts {
  asked: Asked;
  of: Repository;
  pipelines: Pipeline[];
  version: number | null;
}

const CredentialForm = ({ asked, of }: { asked: Asked; of: Repository }) => (
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
          <TextField {...{ asked, name: "username", label: "User name, if the host wants one" }} />
        </>
      ) : (
        <input type="hidden" name="kind" value="ssh-key" />
      )}
      <SecretField {...{ asked, name: "value", label: "Token or private key", required: true }} />
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
  async show(context, asked) {
    const [{ value: repository, version }, pipelines] = await Promise.all([
      getRepository.answer(context, byId(asked.params.id)),
      listPipelines.run(context, { ...nothing, query: { repoId: asked.params.id ?? "" } }),
    ]);
    const canChange = may(context, "maintainer");
    return {
      ...{ title: repository.fullName, section: "repositories" },
      body: (
        <>
          <ProblemNotice asked={asked} />
          <div class="head">
            <h1>{repository.fullName}</h1>
            <a class="button" href={`/app/builds?repoId=${repository.id}`}>
              Builds
            </a>
            <a class="button" href={`/app/variables?owner=repository:${repository.id}`}>
              Variables
            </a>
            {may(context, "member") && (
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
              <Settings {...{ asked, of: repository, pipelines, version }} />
              <CredentialForm asked={asked} of={repository} />
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
  ...{ path: page.path, access: updateRepository.access, page },
  async act(context, { params, entered }) {
    const change = { defaultPipelineId: textIn(entered, "defaultPipelineId"), isActive: flagIn(entered, "isActive") };
    const body = checked(updateRepository.body, { ...repositoryIn(entered), ...change });
    await updateRepository.run(context, { ...byId(params.id), body });
    return { to: `/app/repositories/${params.id}`, done: "saved" };
  },
};

const credentialForm: Form = {
  ...{ path: "/repositories/:id/credential", access: setCredential.access, page },
  async act(context, { params, entered }) {
    const sent = {
      kind: entered.get("kind"),
      username: textIn(entered, "username"),
      value: entered.get("value") ?? "",
    };
    await setCredential.run(context, { ...byId(params.id), body: checked(setCredential.body, sent) });
    return { to: `/app/repositories/${params.id}`, done: "saved" };
  },
};

const remove = removal({
  ...{ path: "/repositories/:id/remove", section: "repositories", access: { role: "maintainer" }, verb: "remove" },
  async ask(context, id) {
    const { fullName } = await getRepository.run(context, byId(id));
    const words = "Its pipelines, their variables and its own, and its credential go with it. Builds and logs stay.";
    return { name: fullName, words, back: `/app/repositories/${id}`, to: "/app/repositories" };
  },
  remove: (context, id) => deleteRepository.run(context, byId(id)),
});

const dropCredential = removal({
  ...{ path: "/repositories/:id/credential/remove", section: "repositories" },
  ...{ access: { role: "maintainer" }, verb: "remove" },
  async ask(context, id) {
    const { fullName } = await getRepository.run(context, byId(id));
    const to = `/app/repositories/${id}`;
    return { name: `the credential of ${fullName}`, words: "The agent's own git settings decide then.", back: to, to };
  },
  remove: (context, id) => deleteCredential.run(context, byId(id)),
});

export const repositoryPages: Page[] = [page, remove.page, dropCredential.page];
export const repositoryForms: Form[] = [saveForm, credentialForm, remove.form, dropCredential.form];
