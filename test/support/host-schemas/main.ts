import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/* Writes `github.json`: the part of GitHub's own description, which has 13 MB, that the service uses. */

const PACKAGE = {
  name: "@octokit/openapi@23.0.2",
  /** The hash of the package's tarball. */
  sha512: "pV8M7L9GY23AybNvTmo2nyjmpmnt6+2sRE/tqr0ZLQcPS4lnw7u5eZGNmwRNkBC3D7gZXbFx5AHzLUVRBXGDhg==",
};

const OPERATIONS = [
  "GET /user",
  "GET /user/repos",
  "GET /repos/{owner}/{repo}",
  "GET /repos/{owner}/{repo}/hooks",
  "POST /repos/{owner}/{repo}/hooks",
  "PATCH /repos/{owner}/{repo}/hooks/{hook_id}",
  "DELETE /repos/{owner}/{repo}/hooks/{hook_id}",
  "POST /repos/{owner}/{repo}/statuses/{sha}",
  "GET /repos/{owner}/{repo}/commits/{ref}/check-runs",
  "POST /repos/{owner}/{repo}/check-runs",
  "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}",
  "GET /repos/{owner}/{repo}/collaborators/{username}/permission",
  "GET /repos/{owner}/{repo}/installation",
  "GET /app",
  "GET /app/installations",
  "GET /app/installations/{installation_id}",
  "DELETE /app/installations/{installation_id}",
  "POST /app/installations/{installation_id}/access_tokens",
  "GET /app/hook/config",
  "PATCH /app/hook/config",
  "GET /app/hook/deliveries",
  "GET /app/hook/deliveries/{delivery_id}",
  "POST /app/hook/deliveries/{delivery_id}/attempts",
  "POST /app-manifests/{code}/conversions",
  "GET /installation/repositories",
];

// biome-ignore lint/suspicious/noExplicitAny: a description of an API in JSON
type Json = any;

const WORDS = ["description", "example", "examples"];

const at = (description: Json, reference: string): Json =>
  reference
    .slice(2)
    .split("/")
    .reduce((inner, name) => inner[name.replaceAll("~1", "/").replaceAll("~0", "~")], description);

/** Resolves references, and omits texts for people. */
const resolved = (description: Json, schema: Json): Json => {
  if (Array.isArray(schema)) return schema.map((inner) => resolved(description, inner));
  if (typeof schema !== "object" || schema === null) return schema;
  if (typeof schema.$ref === "string") return resolved(description, at(description, schema.$ref));
  const entries = Object.entries(schema).filter(([name]) => !WORDS.includes(name));
  return Object.fromEntries(
    entries.map(([name, inner]) => [name, (name === "properties" ? fields : resolved)(description, inner)]),
  );
};

/** These names are fields: one may have the name of a keyword. */
const fields = (description: Json, properties: Json): Json =>
  Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, resolved(description, inner)]));

/** @throws if GitHub does not describe it */
const operationOf = (description: Json, path: string, method: string): Json => {
  const operation = description.paths[path]?.[method];
  if (!operation) throw new Error(`GitHub does not describe ${method} ${path}.`);
  const { parameters, requestBody } = operation;
  return resolved(description, { ...(parameters?.length && { parameters }), ...(requestBody && { requestBody }) });
};

const extractOf = (description: Json): Json => {
  const paths: Json = {};
  for (const [verb = "", path = ""] of OPERATIONS.map((operation) => operation.split(" "))) {
    const method = verb.toLowerCase();
    paths[path] = { ...paths[path], [method]: operationOf(description, path, method) };
  }
  return { info: { title: `The service's requests to GitHub's REST API, from ${PACKAGE.name}` }, paths };
};

const unpack = (folder: string): void => {
  const run = (command: string, args: string[]) => execFileSync(command, args, { cwd: folder, encoding: "utf8" });
  const tarball = run("npm", ["pack", "--silent", PACKAGE.name]).trim();
  const sha512 = createHash("sha512")
    .update(readFileSync(join(folder, tarball)))
    .digest("base64");
  if (sha512 !== PACKAGE.sha512) throw new Error(`${PACKAGE.name} has an unexpected hash: ${sha512}.`);
  run("tar", ["-xzf", tarball, "package/LICENSE", "package/generated/api.github.com.json"]);
};

const folder = mkdtempSync(join(tmpdir(), "millrace-github-"));
try {
  unpack(folder);
  const description = JSON.parse(readFileSync(join(folder, "package/generated/api.github.com.json"), "utf8"));
  writeFileSync(join(import.meta.dirname, "github.json"), JSON.stringify(extractOf(description), null, 2));
  copyFileSync(join(folder, "package/LICENSE"), join(import.meta.dirname, "github.LICENSE"));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
