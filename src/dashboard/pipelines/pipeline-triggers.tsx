import type { Pipeline, PipelineOn } from "../../protocol/pipeline.ts";
import { getPipeline, updatePipeline } from "../../services/repositories/pipelines.ts";
import { AreaField, CheckField, readFlag, readLines, readText, SelectField, VersionField } from "../parts/fields.tsx";
import { FormPage } from "../parts/form-page.tsx";
import { formOn, type Page, type PageRequest, type Pages } from "../shell/page-definition.ts";
import { byId, parseBody } from "../shell/verb-input.ts";

const SUPERSEDES = [
  { value: "file", label: "as the pipeline file says" },
  { value: "refs", label: "on pull requests and branches, except the default branch" },
  { value: "all", label: "on every branch, pull request and tag" },
  { value: "none", label: "never" },
];

const DECIDES = [
  { value: "file", label: "The pipeline file on the default branch" },
  { value: "record", label: "This page" },
];

const PATTERNS = "One pattern per line: * matches any text except /, ** any text. Start a line with ! to exclude.";

/** Returns an event's conditions. An event without restrictions has an empty object. */
const toConditions = <T extends object>(event: true | T | undefined): Partial<T> =>
  event === true ? {} : (event ?? {});

interface ListFieldProps {
  request: PageRequest;
  name: string;
  label: string;
  value: string[] | undefined;
  hint: string;
}

const ListField = ({ value = [], ...props }: ListFieldProps) => (
  <AreaField {...props} value={value.join("\n")} rows={2} />
);

const Pushes = ({ request, on }: { request: PageRequest; on: PipelineOn }) => {
  const push = toConditions(on.push);
  return (
    <fieldset class="field">
      <legend>Pushes</legend>
      <CheckField request={request} name="push" label="Build pushes to branches" on={on.push !== undefined} />
      <ListField
        request={request}
        name="on/push/branches"
        label="Branches"
        value={push.branches}
        hint={`${PATTERNS} Leave empty for every branch.`}
      />
      <ListField
        request={request}
        name="on/push/paths"
        label="Only when one of these files changes"
        value={push.paths}
        hint="Leave empty for any file."
      />
    </fieldset>
  );
};

const Pulls = ({ request, on }: { request: PageRequest; on: PipelineOn }) => {
  const pull = toConditions(on.pull);
  return (
    <fieldset class="field">
      <legend>Pull requests</legend>
      <CheckField request={request} name="pull" label="Build pull requests" on={on.pull !== undefined} />
      <CheckField request={request} name="drafts" label="Include drafts" on={pull.drafts ?? true} />
      <ListField
        request={request}
        name="on/pull/base"
        label="Target branches"
        value={pull.base}
        hint="Leave empty for any branch."
      />
      <ListField
        request={request}
        name="on/pull/labels"
        label="Only with one of these labels"
        value={pull.labels}
        hint="One per line. Leave empty to require none."
      />
      <ListField
        request={request}
        name="on/pull/paths"
        label="Only when one of these files changes"
        value={pull.paths}
        hint="Leave empty for any file."
      />
    </fieldset>
  );
};

const Tags = ({ request, on }: { request: PageRequest; on: PipelineOn }) => (
  <fieldset class="field">
    <legend>Tags</legend>
    <CheckField request={request} name="tag" label="Build tags" on={on.tag !== undefined} />
    <ListField
      request={request}
      name="on/tag/names"
      label="Names"
      value={toConditions(on.tag).names}
      hint="One pattern per line. Leave empty for every tag."
    />
  </fieldset>
);

const Decides = ({ request, pipeline }: { request: PageRequest; pipeline: Pipeline }) => {
  const chosen = request.form?.get("decides") ?? (pipeline.on === null ? "file" : "record");
  return (
    <fieldset class="field ways">
      <legend>Trigger source</legend>
      {DECIDES.map(({ value, label }) => (
        <label class="check">
          <input type="radio" name="decides" value={value} checked={value === chosen} /> {label}
        </label>
      ))}
    </fieldset>
  );
};

const page: Page = {
  path: "/pipelines/:id/triggers",
  role: "maintainer",
  async show(context, request) {
    const { value: pipeline, version } = await getPipeline.answer(context, byId(request.params.id));
    const on: PipelineOn = pipeline.on ?? { push: true, pull: true };
    return {
      title: `Triggers for ${pipeline.name}`,
      section: "repositories",
      body: (
        <FormPage
          heading={
            <>
              Triggers for <a href={`/app/pipelines/${pipeline.id}`}>{pipeline.name}</a>
            </>
          }
          request={request}
          submit="Save"
        >
          <VersionField version={version} />
          <Decides request={request} pipeline={pipeline} />
          <div class="own-triggers">
            <Pushes request={request} on={on} />
            <Pulls request={request} on={on} />
            <Tags request={request} on={on} />
          </div>
          <SelectField
            request={request}
            name="supersede"
            label="Newer commits cancel older builds"
            value={pipeline.supersede}
            choices={SUPERSEDES}
          />
        </FormPage>
      ),
    };
  },
};

/** Returns a field's lines; undefined for an empty field, which sets no condition. */
const readPatterns = (form: URLSearchParams, name: string): string[] | undefined => {
  const lines = readLines(form, name);
  return lines.length > 0 ? lines : undefined;
};

/** Reads the form as the API's `on`. Keeps the trigger for merge groups, for which the form has no field. */
const readOn = (form: URLSearchParams, before: PipelineOn | null) => {
  const [pushes, pulls, tags] = ["push", "pull", "tag"].map((name) => readFlag(form, name));
  return {
    push: pushes
      ? { branches: readPatterns(form, "on/push/branches"), paths: readPatterns(form, "on/push/paths") }
      : undefined,
    pull: pulls
      ? {
          base: readPatterns(form, "on/pull/base"),
          labels: readPatterns(form, "on/pull/labels"),
          paths: readPatterns(form, "on/pull/paths"),
          drafts: readFlag(form, "drafts"),
        }
      : undefined,
    tag: tags ? { names: readPatterns(form, "on/tag/names") } : undefined,
    "merge-group": before?.["merge-group"],
  };
};

const form = formOn(page, updatePipeline, async (context, { params, form }) => {
  const id = byId(params.id);
  const { on } = await getPipeline.run(context, id);
  const body = parseBody(updatePipeline.body, {
    on: form.get("decides") === "record" ? readOn(form, on) : null,
    supersede: readText(form, "supersede"),
  });
  await updatePipeline.run(context, { ...id, body });
  return { to: `/app/pipelines/${params.id}`, notice: "saved" };
});

export const pipelineTriggersPages: Pages = [page, form];
