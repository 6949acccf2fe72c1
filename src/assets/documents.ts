import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe } from "../api/description/describe.ts";
import { EXAMPLES } from "../api/description/examples.ts";
import { ROUTES } from "../api/routes.ts";
import { PIPELINE_SCHEMA } from "../domain/plan/schema.ts";
import { page } from "./page.ts";
import { problemPages } from "./problem-pages.ts";
import { DIST, ROOT, SERVED, write } from "./write.ts";

const VIEWER = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
const STATIC = join(import.meta.dirname, "static");

const json = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`;

const referencePage = (): string =>
  page(
    "API",
    `<div id="reference"></div>
<noscript>This page needs scripts; <a href="/openapi.json">the description itself</a> does not.</noscript>
<script src="/docs/static/swagger-ui-bundle.js"></script>
<script src="/docs/static/reference.js"></script>`,
    `<link rel="stylesheet" href="/docs/static/swagger-ui.css">
<link rel="stylesheet" href="/docs/static/reference.css">`,
  );

/** The agent's program as one file, as a build machine fetches it. */
const bundleAgent = async (): Promise<void> => {
  const path = join(DIST, "agent.mjs");
  await promisify(execFile)(process.execPath, [join(ROOT, "src/agent/bundle.ts"), path]);
  write(join(SERVED, "agent.mjs"), readFileSync(path));
};

/** Writes what people and programs read about the service: description, reference, problems, schema, agent. */
export const writeDocuments = async (): Promise<void> => {
  const bundled = bundleAgent();
  const files: Record<string, string> = {
    ...{ "openapi.json": json(describe(ROUTES, EXAMPLES)), "schema/pipeline.json": json(PIPELINE_SCHEMA) },
    ...{ "docs.html": referencePage(), _redirects: "/ /app 302\n" },
    ...problemPages(),
  };
  for (const [path, text] of Object.entries(files)) write(join(SERVED, path), text);
  for (const name of readdirSync(STATIC)) write(join(SERVED, "docs/static", name), readFileSync(join(STATIC, name)));
  for (const name of ["swagger-ui-bundle.js", "swagger-ui.css", "LICENSE"]) {
    write(join(SERVED, "docs/static", name), readFileSync(join(VIEWER, name)));
  }
  write(join(SERVED, "docs/static/mark.svg"), readFileSync(join(ROOT, "src/dashboard/client/mark.svg")));
  await bundled;
};
