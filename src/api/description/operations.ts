import type { Route } from "../route.ts";
import type { Documentation, Operations } from "./documentation.ts";
import { AGENT_PROTOCOL_OPERATIONS } from "./operations/agent-protocol.ts";
import { BUILD_OPERATIONS } from "./operations/builds.ts";
import { ORGANIZATION_OPERATIONS } from "./operations/organization.ts";
import { SOURCE_OPERATIONS } from "./operations/sources.ts";
import { findSchemaName } from "./schemas.ts";

/** Groups of operations, in the reference's order. */
export const TAGS = Object.entries({
  Variables:
    "Variables and secrets for the environment of builds. The API stores a secret's value and never returns it.",
  Groups: "Named collections of variables. A pipeline attaches them in order.",
  Connections:
    "Git hosts whose pushes trigger builds and that receive build statuses: GitHub, GitLab, Gitea and Forgejo, in their clouds or on your own servers.",
  Repositories: "Source repositories.",
  Pipelines: "How a repository is built: the pipeline file, the variable groups, and the requirements on agents.",
  Schedules: "Builds of a pipeline at set times, created by the API or by the pipeline file.",
  Builds: "Runs of a pipeline: trigger them here, and follow their logs while agents run them.",
  Agents: "The machines that run builds: list, update and remove them.",
  "Agent protocol":
    "The calls of an agent program, in order: register once; poll; start; send heartbeats, progress and the log while the build runs; finish or release. Each call about a build sends its lease in `X-Lease`.",
  Tokens: "API tokens and registration tokens. A token is shown once, in the answer that creates it.",
  Audit: "Who changed what, and which build received which secrets.",
  Operator:
    "For the operator of the service: organizations, sealing with a new key, and metrics of the whole deployment.",
}).map(([name, description]) => ({ name, description }));

const BY_TAG: Record<string, Operations> = {
  ...SOURCE_OPERATIONS,
  ...ORGANIZATION_OPERATIONS,
  Builds: BUILD_OPERATIONS,
  "Agent protocol": AGENT_PROTOCOL_OPERATIONS,
};

/** An operation's documentation with its group. */
export interface TaggedDocumentation extends Documentation {
  tag: string;
}

const KNOWN = Object.fromEntries(
  Object.entries(BY_TAG).flatMap(([tag, operations]) =>
    Object.entries(operations).map(([id, words]) => [id, { tag, ...words }]),
  ),
);

/** The ids of all documented operations. */
export const DESCRIBED = Object.keys(KNOWN);

/** @throws Error for an undocumented operation */
export const findDocumentation = (id: string): TaggedDocumentation => {
  const words = KNOWN[id];
  if (!words) throw new Error(`src/api/description/operations does not describe ${id}`);
  return "like" in words ? { ...findDocumentation(words.like), description: undefined, ...words } : words;
};

/** A route with its documentation, and the names of its schemas in the document. */
export interface DocumentedRoute extends Route {
  documentation: TaggedDocumentation;
  querySchema?: string;
  bodySchema?: string;
  answerSchema?: string;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/**
 * Adds a route's documentation and schema names. Protocol schemas keep their names. Other schemas are named after the
 * operation. The schema of an update's body is named after its record.
 */
export const documented = (route: Route): DocumentedRoute => {
  const { id, method } = route;
  const { query, body, output } = route.verb;
  const record = findSchemaName(output);
  const isUpdate = method === "PUT" && record !== undefined;
  return {
    ...route,
    documentation: findDocumentation(id),
    querySchema: query && (findSchemaName(query) ?? `${capital(id)}Query`),
    bodySchema: body && (findSchemaName(body) ?? (isUpdate ? `${record}Update` : `${capital(id)}Body`)),
    answerSchema: output && (record ?? `${capital(id)}Answer`),
  };
};
