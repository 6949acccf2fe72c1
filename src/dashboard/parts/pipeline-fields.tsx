import type { Group } from "../../protocol/group.ts";
import { PIPELINE_DEFAULTS, type Pipeline } from "../../protocol/pipeline.ts";
import { flagIn, numberIn, textIn, wordsIn } from "../entered.ts";
import type { Asked } from "../page.ts";
import { AreaField, CheckField, SelectField, TextField } from "./field.tsx";
import { OrderedGroups } from "./ordered-groups.tsx";

const PLATFORMS = [
  { value: "", label: "any" },
  { value: "macos", label: "macOS" },
  { value: "linux", label: "Linux" },
  { value: "windows", label: "Windows" },
];

interface Parts {
  asked: Asked;
  of?: Pipeline;
  repoId: string;
  groups: Group[];
}

const Requires = ({ asked, of }: Parts) => (
  <fieldset class="field">
    <legend>An agent must have</legend>
    <SelectField
      {...{ asked, name: "platform", label: "Platform", value: of?.requires.platform, choices: PLATFORMS }}
    />
    <CheckField {...{ asked, name: "ios", label: "iOS builds", on: of?.requires.ios ?? false }} />
    <CheckField {...{ asked, name: "android", label: "Android builds", on: of?.requires.android ?? false }} />
    <CheckField {...{ asked, name: "web", label: "web builds", on: of?.requires.web ?? false }} />
    <TextField
      {...{ asked, name: "labels", label: "Labels", value: of?.requires.labels?.join(", ") }}
      hint="With commas between."
    />
  </fieldset>
);

export const PipelineFields = (parts: Parts) => {
  const { asked, of, repoId, groups } = parts;
  const data = { "data-check": "/app/pipelines/check", "data-repo": repoId, "data-pipeline": of?.id ?? "" };
  return (
    <>
      <TextField {...{ asked, name: "name", label: "Name", value: of?.name, required: true, placeholder: "ci" }} />
      <TextField
        {...{ asked, name: "configPath", label: "Pipeline file in the repository", required: true }}
        value={(of ?? PIPELINE_DEFAULTS).configPath}
      />
      <AreaField
        {...{ asked, name: "definition", label: "Definition", value: of?.definition, rows: 14, wrap: "off", data }}
        placeholder={"steps:\n  - run: npm test"}
        hint="YAML. It wins over the file; leave it empty to use the file. It is checked as you type."
      />
      <OrderedGroups {...{ asked, groups, chosen: of?.groupIds ?? [] }} />
      <Requires {...parts} />
      <TextField
        {...{ asked, name: "timeoutSeconds", label: "Longest run, in seconds", type: "number" }}
        value={(of ?? PIPELINE_DEFAULTS).timeoutSeconds}
      />
      <TextField
        {...{ asked, name: "maxAttempts", label: "Attempts, when an agent is lost", type: "number", min: 1, max: 3 }}
        value={(of ?? PIPELINE_DEFAULTS).maxAttempts}
      />
      <TextField
        {...{ asked, name: "maxParallel", label: "Builds at a time", type: "number", value: of?.maxParallel }}
        hint="Leave it empty for as many as there are agents."
      />
      <CheckField
        {...{ asked, name: "isActive", label: "Active: builds can be triggered", on: of?.isActive ?? true }}
      />
    </>
  );
};

/** What the form says, as the API takes it. Groups come in the order of the list, the ticked ones only. */
export const pipelineIn = (entered: URLSearchParams) => {
  const ticked = entered.getAll("groupIds");
  const labels = wordsIn(entered, "labels");
  return {
    name: entered.get("name")?.trim() ?? "",
    configPath: entered.get("configPath")?.trim() ?? "",
    definition: entered.get("definition")?.trim() ? (entered.get("definition") ?? null) : null,
    groupIds: entered.getAll("order").filter((id) => ticked.includes(id)),
    requires: {
      ...(textIn(entered, "platform") ? { platform: textIn(entered, "platform") } : {}),
      ...Object.fromEntries(["ios", "android", "web"].flatMap((name) => (flagIn(entered, name) ? [[name, true]] : []))),
      ...(labels.length > 0 ? { labels } : {}),
    },
    timeoutSeconds: numberIn(entered, "timeoutSeconds") ?? undefined,
    maxAttempts: numberIn(entered, "maxAttempts") ?? undefined,
    maxParallel: numberIn(entered, "maxParallel"),
    isActive: flagIn(entered, "isActive"),
  };
};
