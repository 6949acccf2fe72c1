import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { describeApi } from "../api/description/describe.ts";
import { EXAMPLES } from "../api/description/examples.ts";
import { ROUTES } from "../api/routes.ts";
import { INCLUDE_SCHEMA, PIPELINE_SCHEMA } from "../pipeline/parse/pipeline-file.ts";
import { VERSION } from "../protocol/version.ts";
import { ROOT, SERVED, writeIfChanged } from "./output-files.ts";
import { htmlPage, problemPages } from "./problem-pages.ts";
import type { AgentProgram } from "./programs.ts";

const VIEWER = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
const VIEWER_FILES = [
  "swagger-ui-bundle.js",
  "swagger-ui-bundle.js.LICENSE.txt",
  "swagger-ui.css",
  "LICENSE",
  "NOTICE",
];
const STATIC = join(import.meta.dirname, "static");

const json = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`;

const referencePage = (): string =>
  htmlPage(
    "API",
    `<div id="reference"></div>
<noscript>This page requires JavaScript. <a href="/openapi.json">The API description</a> does not.</noscript>
<script src="/docs/static/swagger-ui-bundle.js"></script>
<script src="/docs/static/reference.js"></script>`,
    `<link rel="stylesheet" href="/docs/static/swagger-ui.css">
<link rel="stylesheet" href="/docs/static/reference.css">`,
  );

/** Returns a program under its names, each with a checksum file for `sha256sum -c`. */
const programFiles = ({ text, sha256 }: AgentProgram, names: string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => [
      [name, text],
      [`${name}.sha256`, `${sha256}  ${name}\n`],
    ]),
  );

/** Writes the style and scripts of the documents, and Swagger UI's files with its license. */
const writeDocsFiles = (): void => {
  const sources = [
    ...readdirSync(STATIC).map((name) => join(STATIC, name)),
    ...VIEWER_FILES.map((name) => join(VIEWER, name)),
    join(ROOT, "src/dashboard/shell/client/mark.svg"),
  ];
  for (const path of sources) writeIfChanged(join(SERVED, "docs/static", basename(path)), readFileSync(path));
};

/** The guides that pages link to. The service serves them as text from the repository. */
const GUIDES = ["connect.md", "connect/github.md", "connect/gitlab.md", "connect/gitea.md", "pipelines.md"];

const guides = (): Record<string, string> =>
  Object.fromEntries(GUIDES.map((name) => [`docs/${name}`, readFileSync(join(ROOT, "docs", name), "utf8")]));

/** Writes the served documents and programs: the API description, the reference, the problem pages and the programs. */
export const writeDocuments = (agent: AgentProgram, importer: AgentProgram, notices: string): void => {
  mkdirSync(SERVED, { recursive: true });
  const files: Record<string, string> = {
    "openapi.json": json(describeApi(ROUTES, EXAMPLES)),
    "schema/pipeline.json": json(PIPELINE_SCHEMA),
    "schema/include.json": json(INCLUDE_SCHEMA),
    "docs.html": referencePage(),
    _redirects: "/ /app 302\n",
    "THIRD-PARTY-NOTICES.txt": notices,
    ...programFiles(agent, ["agent.mjs", `agent-${VERSION}.mjs`]),
    ...programFiles(importer, ["importer.mjs"]),
    ...problemPages(),
    ...guides(),
  };
  const outdated = readdirSync(SERVED).filter((name) => name.startsWith("agent-") && !(name in files));
  for (const name of outdated) rmSync(join(SERVED, name), { force: true });
  for (const [path, text] of Object.entries(files)) writeIfChanged(join(SERVED, path), text);
  writeDocsFiles();
};
