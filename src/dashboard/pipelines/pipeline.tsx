import type { Group } from "../../protocol/group.ts";
import type { Pipeline } from "../../protocol/pipeline.ts";
import type { PipelineHistory } from "../../protocol/pipeline-history.ts";
import type { Schedule } from "../../protocol/schedule.ts";
import type { Context } from "../../services/core/context.ts";
import { getPipelineHistory } from "../../services/repositories/pipeline-histories.ts";
import { createPipeline, deletePipeline, getPipeline, updatePipeline } from "../../services/repositories/pipelines.ts";
import { getRepository, listRepositories } from "../../services/repositories/repositories.ts";
import { listSchedules } from "../../services/schedules/schedules.ts";
import { previewEnvironment } from "../../services/variables/environment-preview.ts";
import { listGroups } from "../../services/variables/groups.ts";
import { Bars, toBar } from "../parts/bars.tsx";
import { VersionField } from "../parts/fields.tsx";
import { ProblemNotice, StackedForm } from "../parts/form-page.tsx";
import { count, formatDuration } from "../parts/format.ts";
import { TargetLinks } from "../parts/target-links.tsx";
import { confirmRemoval } from "../shell/confirm-removal.tsx";
import {
  type FormRequest,
  formOn,
  hasRole,
  type Page,
  type PageRequest,
  type Pages,
  type View,
} from "../shell/page-definition.ts";
import { byId, namesById, noInput, parseBody, withBody } from "../shell/verb-input.ts";
import { EnvironmentPreview, reorderedForm } from "./environment.tsx";
import { PipelineFields, readPipeline } from "./pipeline-fields.tsx";
import { ScheduleRows } from "./schedules.tsx";
import { TriggersPanel } from "./trigger-list.tsx";

/** Shows a pipeline's last builds, and its week in one line, or nothing if no build has ended. */
const LastBuilds = ({ history: { pipelineId, repoId, name, builds, week } }: { history: PipelineHistory }) => {
  if (builds.length === 0) return null;
  const { succeeded, failed, canceled, tookSeconds } = week;
  return (
    <section class="part" aria-labelledby="last-builds">
      <h2 id="last-builds">Last builds</h2>
      <Bars bars={builds.map(toBar).reverse()} label={`Last builds of ${name}`} />
      <p class="hint">
        This week: {succeeded} succeeded, {failed} failed, {canceled} canceled
        {tookSeconds && `; median ${formatDuration(tookSeconds.p50 * 1000)}`}.{" "}
        <a href={`/app/builds?${new URLSearchParams({ repoId, pipelineId })}`}>View all builds</a>
      </p>
    </section>
  );
};

const allGroups = { ...noInput, query: { includeVariables: false } };

interface EditFormProps {
  request: PageRequest;
  pipeline?: Pipeline;
  repoId: string;
  groups: Group[];
  version: number | null;
}

/**
 * Shows the form's first button, which the Enter key presses. Without this button, the Enter key would move a group.
 */
const EnterButton = () => (
  <button type="submit" class="sr" tabindex={-1}>
    Save
  </button>
);

const EditForm = ({ request, pipeline, repoId, groups, version }: EditFormProps) => (
  <StackedForm submit={pipeline ? "Save" : "Add pipeline"}>
    <VersionField version={version} />
    <EnterButton />
    <PipelineFields request={request} pipeline={pipeline} repoId={repoId} groups={groups} />
  </StackedForm>
);

const Facts = ({ pipeline }: { pipeline: Pipeline }) => {
  const { definition, configPath, timeoutSeconds, maxAttempts, maxParallel, isActive } = pipeline;
  return (
    <p class="facts">
      <span>{definition === null ? <code>{configPath}</code> : "defined here"}</span>
      <span>timeout {formatDuration(timeoutSeconds * 1000)}</span>
      <span>up to {count(maxAttempts, "attempt")}</span>
      {maxParallel !== null && <span>{maxParallel} at a time</span>}
      {!isActive && <span class="label">inactive</span>}
    </p>
  );
};

const Settings = ({ pipeline, ...props }: EditFormProps & { pipeline: Pipeline }) => (
  <section class="column">
    <h2>Settings</h2>
    <EditForm pipeline={pipeline} {...props} />
    <p>
      <a class="button danger" href={`/app/pipelines/${pipeline.id}/remove`}>
        Remove pipeline
      </a>
    </p>
  </section>
);

interface SchedulesProps {
  pipeline: Pipeline;
  schedules: Schedule[];
  canChange: boolean;
  now: Date;
}

const Schedules = ({ pipeline, schedules, canChange, now }: SchedulesProps) => (
  <section class="part">
    <div class="head">
      <h2>Schedules</h2>
      {canChange && (
        <a class="button" href={`/app/pipelines/${pipeline.id}/schedules/new`}>
          Add schedule
        </a>
      )}
    </div>
    <ScheduleRows schedules={schedules} now={now} pipelineName={null} />
    {schedules.length === 0 && <p class="hint">No schedules</p>}
  </section>
);

const BadgeForms = ({ pipeline }: { pipeline: Pipeline }) => (
  <section class="part">
    <h2>Badge</h2>
    <p class="hint">
      A status image for your README. Its URL contains a token. A new badge invalidates the previous URL.
    </p>
    <div class="actions">
      <form method="post" action={`/app/pipelines/${pipeline.id}/badge`}>
        <button type="submit">Create badge</button>
      </form>
      <a class="button danger" href={`/app/pipelines/${pipeline.id}/badge/revoke`}>
        Revoke
      </a>
    </div>
  </section>
);

export const pipelinePage: Page = {
  path: "/pipelines/:id",
  role: "viewer",
  async show(context, request) {
    const id = byId(request.params.id);
    const [{ value: pipeline, version }, history, repositories, groups, environment, schedules] = await Promise.all([
      getPipeline.answer(context, id),
      getPipelineHistory.run(context, id),
      listRepositories.run(context, noInput),
      listGroups.run(context, allGroups),
      previewEnvironment.run(context, { ...id, query: {} }),
      listSchedules.run(context, { ...noInput, query: { pipelineId: id.params.id } }),
    ]);
    const repository = repositories.find((each) => each.id === pipeline.repoId);
    const name = repository?.fullName ?? "removed repository";
    const canChange = hasRole(context, "maintainer");
    return {
      title: `${name} / ${pipeline.name}`,
      section: "repositories",
      script: "definition.js",
      body: (
        <>
          <ProblemNotice request={request} />
          <div class="head">
            <h1>
              <a href={`/app/repositories/${pipeline.repoId}`}>{name}</a> / <bdi>{pipeline.name}</bdi>
            </h1>
            <TargetLinks scope="pipeline" id={pipeline.id} canRun={hasRole(context, "member")} />
          </div>
          <Facts pipeline={pipeline} />
          <LastBuilds history={history} />
          <TriggersPanel pipeline={pipeline} repository={repository} canChange={canChange} now={context.now} />
          <Schedules pipeline={pipeline} schedules={schedules} canChange={canChange} now={context.now} />
          {canChange && <BadgeForms pipeline={pipeline} />}
          <EnvironmentPreview entries={environment} groups={namesById(groups, ({ name }) => name)} />
          {canChange ? (
            <Settings
              request={request}
              pipeline={pipeline}
              repoId={pipeline.repoId}
              groups={groups}
              version={version}
            />
          ) : (
            pipeline.definition !== null && <pre class="definition">{pipeline.definition}</pre>
          )}
        </>
      ),
    };
  },
};

/** Returns the form again if one of its buttons moved a group; null if the person wants to save the form. */
const showReordered = async (context: Context, request: FormRequest, page: Page): Promise<View | null> => {
  const form = reorderedForm(request.form);
  if (!form) return null;
  // The form's version is for saving the pipeline. The page does not need it to read the pipeline again.
  return page.show(context.expectingVersion(null), { ...request, form });
};

const saveForm = formOn(pipelinePage, updatePipeline, async (context, request) => {
  const reordered = await showReordered(context, request, pipelinePage);
  if (reordered) return reordered;
  const { params, form } = request;
  await updatePipeline.run(context, { ...byId(params.id), body: parseBody(updatePipeline.body, readPipeline(form)) });
  return { to: `/app/pipelines/${params.id}`, notice: "saved" };
});

const newPage: Page = {
  path: "/repositories/:id/pipelines/new",
  role: "maintainer",
  async show(context, request) {
    const repoId = request.params.id ?? "";
    const [repository, groups] = await Promise.all([
      getRepository.run(context, byId(repoId)),
      listGroups.run(context, allGroups),
    ]);
    return {
      title: `Add a pipeline to ${repository.fullName}`,
      section: "repositories",
      script: "definition.js",
      body: (
        <div class="column">
          <h1>
            Add a pipeline to <bdi>{repository.fullName}</bdi>
          </h1>
          <ProblemNotice request={request} />
          <EditForm request={request} repoId={repoId} groups={groups} version={null} />
        </div>
      ),
    };
  },
};

const addForm = formOn(newPage, createPipeline, async (context, request) => {
  const reordered = await showReordered(context, request, newPage);
  if (reordered) return reordered;
  const { params, form } = request;
  const body = parseBody(createPipeline.body, { repoId: params.id, ...readPipeline(form) });
  const { id } = await createPipeline.run(context, withBody(body));
  return { to: `/app/pipelines/${id}`, notice: "created" };
});

const remove = confirmRemoval({
  path: "/pipelines/:id/remove",
  section: "repositories",
  access: { role: "maintainer" },
  verb: "remove",
  async question(context, id) {
    const { name, repoId } = await getPipeline.run(context, byId(id));
    const consequences = "This also removes its variables. Its builds and their logs are kept.";
    return { name, consequences, back: `/app/pipelines/${id}`, next: `/app/repositories/${repoId}` };
  },
  remove: (context, id) => deletePipeline.run(context, byId(id)),
});

export const pipelinePages: Pages = [newPage, pipelinePage, ...remove, addForm, saveForm];
