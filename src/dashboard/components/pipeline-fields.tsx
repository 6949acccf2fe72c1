import type { Group } from "../../protocol/group.ts";
import type { Pipeline } from "../../protocol/pipeline.ts";
import { readFlag, readList, readNumber, readText } from "../form-fields.ts";
import type { PageRequest } from "../page-definition.ts";
import { AreaField, CheckField, SelectField, TextField } from "./fields.tsx";
import { OrderedGroups } from "./ordered-groups.tsx";

const PLATFORMS = [
  { value: "", label: "any" },
  { value: "macos", label: "macOS" },
  { value: "linux", label: "Linux" },
  { value: "windows", label: "Windows" },
];

interface Parts {
  request: PageRequest;
  of?: Pipeline;
  repoId: string;
  groups: Group[];
}

const Requires = ({ request, of }: Parts) => (
  <fieldset class="field">
    <legend>An agent must have</legend>
    <SelectField request={request} name="platform" label="Platform" value={of?.requires.platform} choices={PLATFORMS} />
    <CheckField request={request} name="ios" label="iOS builds" on={of?.requires.ios ?? false} />
    <CheckField request={request} name="android" label="Android builds" on={of?.requires.android ?? false} />
    <CheckField request={request} name="web" label="web builds" on={of?.requires.web ?? false} />
    <TextField
      request={request}
      name="labels"
      label="Labels"
      value={of?.requires.labels?.join(", ")}
      hint="With commas between."
    />
  </fieldset>
);

export const PipelineFields = (parts: Parts) => {
  const { request, of, repoId, groups } = parts;
  const data = { "data-check": "/app/pipelines/check", "data-repo": repoId, "data-pipeline": of?.id ?? "" };
  return (
    <>
      <TextField request={request} name="name" label="Name" value={of?.name} required placeholder="ci" />
      <TextField
        request={request}
        name="configPath"
        label="Pipeline file in the repository"
        required
        value={of?.configPath ?? ".millrace.yml"}
      />
      <AreaField
        request={request}
        name="definition"
        label="Definition"
        value={of?.definition}
        rows={14}
        wrap="off"
        data={data}
        placeholder={"steps:\n  - run: npm test"}
        hint="YAML. It wins over the file; leave it empty to use the file. It is checked as you type."
      />
      <OrderedGroups request={request} groups={groups} chosen={of?.groupIds ?? []} />
      <Requires {...parts} />
      <TextField
        request={request}
        name="timeoutSeconds"
        label="Longest run, in seconds"
        type="number"
        value={of?.timeoutSeconds ?? 3600}
      />
      <TextField
        request={request}
        name="maxAttempts"
        label="Attempts, when an agent is lost"
        type="number"
        min={1}
        max={3}
        value={of?.maxAttempts ?? 2}
      />
      <TextField
        request={request}
        name="maxParallel"
        label="Builds at a time"
        type="number"
        value={of?.maxParallel}
        hint="Leave it empty for as many as there are agents."
      />
      <CheckField request={request} name="isActive" label="Active: builds can be triggered" on={of?.isActive ?? true} />
    </>
  );
};

/** What the form says, as the API takes it. Groups come in the order of the list, the ticked ones only. */
export const readPipeline = (form: URLSearchParams) => {
  const ticked = form.getAll("groupIds");
  const labels = readList(form, "labels");
  return {
    name: form.get("name")?.trim() ?? "",
    configPath: form.get("configPath")?.trim() ?? "",
    definition: form.get("definition")?.trim() ? (form.get("definition") ?? null) : null,
    groupIds: form.getAll("order").filter((id) => ticked.includes(id)),
    requires: {
      ...(readText(form, "platform") ? { platform: readText(form, "platform") } : {}),
      ...Object.fromEntries(["ios", "android", "web"].flatMap((name) => (readFlag(form, name) ? [[name, true]] : []))),
      ...(labels.length > 0 ? { labels } : {}),
    },
    timeoutSeconds: readNumber(form, "timeoutSeconds") ?? undefined,
    maxAttempts: readNumber(form, "maxAttempts") ?? undefined,
    maxParallel: readNumber(form, "maxParallel"),
    isActive: readFlag(form, "isActive"),
  };
};
