import type { Group } from "../../protocol/group.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { PIPELINE_DEFAULTS, type Pipeline } from "../../protocol/pipeline.ts";
import {
  AreaField,
  CheckField,
  readFlag,
  readList,
  readNumber,
  readRequiredText,
  readText,
  SelectField,
  TextField,
} from "../parts/fields.tsx";
import type { FormState } from "../shell/page-definition.ts";
import { OrderedGroups } from "./environment.tsx";

const PLATFORMS = [
  { value: "", label: "any" },
  { value: "macos", label: "macOS" },
  { value: "linux", label: "Linux" },
  { value: "windows", label: "Windows" },
];

interface PipelineFieldsProps {
  request: FormState;
  pipeline?: Pipeline;
  repoId: string;
  groups: Group[];
}

const Requirements = ({ request, pipeline }: PipelineFieldsProps) => {
  const { platform, ios = false, android = false, web = false, labels } = pipeline?.requires ?? {};
  return (
    <fieldset class="field">
      <legend>Agent requirements</legend>
      <SelectField request={request} name="platform" label="Platform" value={platform} choices={PLATFORMS} />
      <CheckField request={request} name="ios" label="iOS builds" on={ios ?? false} />
      <CheckField request={request} name="android" label="Android builds" on={android ?? false} />
      <CheckField request={request} name="web" label="Web builds" on={web ?? false} />
      <TextField
        request={request}
        name="labels"
        label="Labels"
        value={labels?.join(", ")}
        hint="Separate them with commas."
      />
    </fieldset>
  );
};

/**
 * Returns the field's attributes. While a person types, the page's script sends the definition to the address in them.
 */
const checkedBy = (repoId: string, pipelineId = "") => ({
  "data-check": "/app/pipelines/check",
  "data-repo": repoId,
  "data-pipeline": pipelineId,
});

const Limits = ({ request, pipeline }: PipelineFieldsProps) => (
  <>
    <TextField
      request={request}
      name="timeoutSeconds"
      label="Build timeout, in seconds"
      type="number"
      value={(pipeline ?? PIPELINE_DEFAULTS).timeoutSeconds}
    />
    <TextField
      request={request}
      name="maxAttempts"
      label="Maximum attempts"
      type="number"
      min={1}
      max={LIMITS.attempts}
      value={(pipeline ?? PIPELINE_DEFAULTS).maxAttempts}
      hint="A build that loses its agent gets another attempt."
    />
    <TextField
      request={request}
      name="maxParallel"
      label="Concurrency limit"
      type="number"
      value={pipeline?.maxParallel}
      hint="Maximum builds at the same time. Leave the field empty for no limit."
    />
  </>
);

export const PipelineFields = (props: PipelineFieldsProps) => {
  const { request, pipeline, repoId, groups } = props;
  return (
    <>
      <TextField request={request} name="name" label="Name" value={pipeline?.name} required placeholder="ci" />
      <TextField
        request={request}
        name="configPath"
        label="Pipeline file in the repository"
        required
        value={(pipeline ?? PIPELINE_DEFAULTS).configPath}
      />
      <AreaField
        request={request}
        name="definition"
        label="Definition"
        value={pipeline?.definition}
        rows={14}
        isCode
        data={checkedBy(repoId, pipeline?.id)}
        placeholder={"steps:\n  - run: npm test"}
        hint="YAML that replaces the file. Leave the field empty to use the file. Checked as you type."
      />
      <OrderedGroups request={request} groups={groups} attached={pipeline?.groupIds ?? []} />
      <Requirements {...props} />
      <Limits {...props} />
      <CheckField
        request={request}
        name="isActive"
        label="Active: builds can be triggered"
        on={pipeline?.isActive ?? true}
      />
    </>
  );
};

const readRequirements = (form: URLSearchParams) => {
  const platform = readText(form, "platform");
  const labels = readList(form, "labels");
  const abilities = ["ios", "android", "web"].filter((name) => readFlag(form, name));
  return {
    ...(platform ? { platform } : {}),
    ...Object.fromEntries(abilities.map((name) => [name, true])),
    ...(labels.length > 0 ? { labels } : {}),
  };
};

/** Reads the form as the body for the API. The checked groups keep the order of the list. */
export const readPipeline = (form: URLSearchParams) => {
  const checkedGroups = form.getAll("groupIds");
  return {
    name: readRequiredText(form, "name"),
    configPath: readRequiredText(form, "configPath"),
    definition: readText(form, "definition") && form.get("definition"),
    groupIds: form.getAll("order").filter((id) => checkedGroups.includes(id)),
    requires: readRequirements(form),
    timeoutSeconds: readNumber(form, "timeoutSeconds") ?? undefined,
    maxAttempts: readNumber(form, "maxAttempts") ?? undefined,
    maxParallel: readNumber(form, "maxParallel"),
    isActive: readFlag(form, "isActive"),
  };
};
