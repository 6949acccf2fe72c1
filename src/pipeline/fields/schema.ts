import { PIPELINE_FILE } from "../parse/pipeline-file.ts";
import { INCLUDED_SCHEMA } from "../parse/step-list.ts";

const DRAFT = "https://json-schema.org/draft/2020-12/schema";

/** JSON Schema of pipeline files, for editors; built from the parsers that check a file. */
export const PIPELINE_SCHEMA = {
  $schema: DRAFT,
  title: "Millrace pipeline",
  anyOf: [
    { title: "Steps of one job", ...PIPELINE_FILE.steps.schema },
    { title: "Several jobs", ...PIPELINE_FILE.jobs.schema },
  ],
};

/** The same of files that they include. */
export const INCLUDE_SCHEMA = { $schema: DRAFT, title: "Steps that Millrace pipelines include", ...INCLUDED_SCHEMA };
