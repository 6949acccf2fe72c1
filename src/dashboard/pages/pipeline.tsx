import type { Group } from "../../protocol/group.ts";
import type { Pipeline } from "../../protocol/pipeline.ts";
import { previewEnvironment } from "../../services/environment-preview.ts";
import { listGroups } from "../../services/groups.ts";
import { createPipeline, deletePipeline, getPipeline, updatePipeline } from "../../services/pipelines.ts";
import { getRepository, listRepositories } from "../../services/repositories.ts";
import { byId, checked, namesOf, nothing, withBody } from "../ask.ts";
import { may } from "../may.ts";
import type { Asked, Form, Page, View } from "../page.ts";
import { Version } from "../parts/field.tsx";
import { reordered } from "../parts/ordered-groups.tsx";
import { PipelineFields, pipelineIn } from "../parts/pipeline-fields.tsx";
import { Preview } from "../parts/preview.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { removal } from "../removal.tsx";

const allGroups = { ...nothing, query: { includeVariables: false } };

interface EditParts {
  asked: Asked;
  of?: Pipeline;
  repoId: string;
  groups: Group[];
  version: number | null;
}

/** The first button of a form is what the enter key presses: not one that moves a group. */
const EnterButton = () => (
  <button type="submit" class="sr" tabindex={-1}>
    Save
  </button>
);

const Edit = ({ asked, of, repoId, groups, version }: EditParts) => (
  <form method="post" class="stack">
    <Version of={version} />
    <EnterButton />
    <PipelineFields {...{ asked, of, repoId, groups }} />
    <button type="submit" class="primary">
      {of ? "Save" : "Add pipeline"}
    </button>
  </form>
);

const Facts = ({ of }: { of: Pipeline }) => (
  <p class="facts">
    <span>{of.definition === null ? <code>{of.configPath}</code> : "defined here"}</span>
    <span>at most {of.timeoutSeconds} s</span>
    <span>
      {of.maxAttempts} {of.maxAttempts === 1 ? "attempt" : "attempts"}
    </span>
    {of.maxParallel !== null && <span>{of.maxParallel} at a time</span>}
    {!of.isActive && <span class="label">inactive</span>}
  </p>
);

const page: Page = {
  path: "/pipelines/:id",
  role: "viewer",
  async show(context, asked) {
    const id = byId(asked.params.id);
    const [{ value: pipeline, version }, repositories, groups, environment] = await Promise.all([
      getPipeline.answer(context, id),
      listRepositories.run(context, nothing),
      listGroups.run(context, allGroups),
      previewEnvironment.run(context, { ...id, query: {} }),
    ]);
    const repository = repositories.find((each) => each.id === pipeline.repoId);
    const name = repository?.fullName ?? "removed repository";
    return {
      ...{ title: `${name} / ${pipeline.name}`, section: "repositories", script: "definition.js" },
      body: (
        <>
          <ProblemNotice asked={asked} />
          <div class="head">
            <h1>
              <a href={`/app/repositories/${pipeline.repoId}`}>{name}</a> / <bdi>{pipeline.name}</bdi>
            </h1>
            <a class="button" href={`/app/builds?pipelineId=${pipeline.id}`}>
              Builds
            </a>
            <a class="button" href={`/app/variables?owner=pipeline:${pipeline.id}`}>
              Variables
            </a>
            {may(context, "member") && (
              <a class="button primary" href={`/app/builds/new?pipelineId=${pipeline.id}`}>
                Run build
              </a>
            )}
          </div>
          <Facts of={pipeline} />
          <Preview entries={environment} groups={namesOf(groups, ({ name }) => name)} />
          {may(context, "maintainer") ? (
            <section class="column">
              <h2>Settings</h2>
              <Edit {...{ asked, of: pipeline, repoId: pipeline.repoId, groups, version }} />
              <p>
                <a class="button danger" href={`/app/pipelines/${pipeline.id}/remove`}>
                  Remove pipeline
                </a>
              </p>
            </section>
          ) : (
            pipeline.definition !== null && <pre class="definition">{pipeline.definition}</pre>
          )}
        </>
      ),
    };
  },
};

/** A button that moves a group leads back to the form, with all that was entered. */
const moved =
  (asked: Asked & { entered: URLSearchParams }, form: Page) => async (context: Parameters<Page["show"]>[0]) => {
    const entered = reordered(asked.entered);
    return entered ? ((await form.show(context, { ...asked, entered })) as View) : null;
  };

const saveForm: Form = {
  ...{ path: page.path, access: updatePipeline.access, page },
  async act(context, asked) {
    const again = await moved(asked, page)(context.expectingVersion(null));
    if (again) return again;
    const { params, entered } = asked;
    await updatePipeline.run(context, { ...byId(params.id), body: checked(updatePipeline.body, pipelineIn(entered)) });
    return { to: `/app/pipelines/${params.id}`, done: "saved" };
  },
};

const newPage: Page = {
  path: "/repositories/:id/pipelines/new",
  role: "maintainer",
  async show(context, asked) {
    const repoId = asked.params.id ?? "";
    const [repository, groups] = await Promise.all([
      getRepository.run(context, byId(repoId)),
      listGroups.run(context, allGroups),
    ]);
    return {
      ...{ title: `Add a pipeline to ${repository.fullName}`, section: "repositories", script: "definition.js" },
      body: (
        <div class="column">
          <h1>
            Add a pipeline to <bdi>{repository.fullName}</bdi>
          </h1>
          <ProblemNotice asked={asked} />
          <Edit {...{ asked, repoId, groups, version: null }} />
        </div>
      ),
    };
  },
};

const addForm: Form = {
  ...{ path: newPage.path, access: createPipeline.access, page: newPage },
  async act(context, asked) {
    const again = await moved(asked, newPage)(context);
    if (again) return again;
    const { params, entered } = asked;
    const body = checked(createPipeline.body, { repoId: params.id, ...pipelineIn(entered) });
    const { id } = await createPipeline.run(context, withBody(body));
    return { to: `/app/pipelines/${id}`, done: "created" };
  },
};

const remove = removal({
  ...{ path: "/pipelines/:id/remove", section: "repositories", access: { role: "maintainer" }, verb: "remove" },
  async ask(context, id) {
    const { name, repoId } = await getPipeline.run(context, byId(id));
    const words = "Its variables go with it. Builds and logs stay.";
    return { name, words, back: `/app/pipelines/${id}`, to: `/app/repositories/${repoId}` };
  },
  remove: (context, id) => deletePipeline.run(context, byId(id)),
});

export const pipelinePages: Page[] = [newPage, page, remove.page];
export const pipelineForms: Form[] = [addForm, saveForm, remove.form];
