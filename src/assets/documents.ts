import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe } from "../api/description/describe.ts";
import { EXAMPLES } from "../api/description/examples.ts";
import { ROUTES } from "../api/routes.ts";
import { PIPELINE_SCHEMA } from "../domain/plan/schema.ts";
import { VERSION } from "../protocol/version.ts";
import type { AgentProgram } from "./agent.ts";
import { page } from "./page.ts";
import { problemPages } from "./problem-pages.ts";
import { ROOT, SERVED, write } from "./write.ts";

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

/** The agent's program under both its names, each with a checksum as `sha256sum -c` reads it. */
const agentFiles = ({ text, sha256 }: AgentProgram): Record<string, string> =>
  Object.fromEntries(
    ["agent.mjs", `agent-${VERSION}.mjs`].flatMap((name) => [
      [name, text],
      [`${name}.sha256`, `${sha256}  ${name}\n`],
    ]),
  );

/** Writes what people and programs read about the service: description, reference, problems, schema, agent. */
export const writeDocuments = (agent: AgentProgram, notices: string): void => {
  mkdirSync(SERVED, { recursive: true });
  const files: Record<string, string> = {
    "openapi.json": json(describe(ROUTES, EXAMPLES)),
    "schema/pipeline.json": json(PIPELINE_SCHEMA),
    "docs.html": referencePage(),
    _redirects: "/ /app 302\n",
    "THIRD-PARTY-NOTICES.txt": notices,
    ...agentFiles(agent),
    ...problemPages(),
  };
  const former = readdirSync(SERVED).filter((name) => name.startsWith("agent-") && !(name in files));
  for (const name of former) rmSync(join(SERVED, name), { force: true });
  for (const [path, text] of Object.entries(files)) write(join(SERVED, path), text);
  for (const name of readdirSync(STATIC)) write(join(SERVED, "docs/static", name), readFileSync(join(STATIC, name)));
  for (const name of [
    "swagger-ui-bundle.js",
    "swagger-ui-bundle.js.LICENSE.txt",
    "swagger-ui.css",
    "LICENSE",
    "NOTICE",
  ]) {
    write(join(SERVED, "docs/static", name), readFileSync(join(VIEWER, name)));
  }
  write(join(SERVED, "docs/static/mark.svg"), readFileSync(join(ROOT, "src/dashboard/client/mark.svg")));
};
