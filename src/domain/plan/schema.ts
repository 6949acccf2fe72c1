import { PIPELINE_FILE } from "./pipeline-file.ts";

/** JSON Schema of pipeline files, for editors; built from the parsers that check a file. */
export const PIPELINE_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Millrace pipeline",
  anyOf: [
    { title: "Steps of one job", ...PIPELINE_FILE.steps.schema },
    { title: "Several jobs", ...PIPELINE_FILE.jobs.schema },
  ],
};
