import type { Group } from "../protocol/group.ts";
import type { Pipeline } from "../protocol/pipeline.ts";
import type { Repository } from "../protocol/repository.ts";
import type { Scope, Variable } from "../protocol/variable.ts";
import type { Context } from "../services/core/context.ts";
import { listGroups } from "../services/groups.ts";
import { listPipelines } from "../services/pipelines.ts";
import { listRepositories } from "../services/repositories.ts";
import type { Choice } from "./components/fields.tsx";
import { noInput } from "./verb-input.ts";

/** Whose a variable can be: the organization, a group, a repository or a pipeline. */
export interface Owners {
  orgId: string;
  groups: Group[];
  repositories: Repository[];
  pipelines: Pipeline[];
}

/** Reads every owner there is, in the round trip of whatever is asked beside it. */
export const readOwners = async (context: Context): Promise<Owners> => {
  const [groups, repositories, pipelines] = await Promise.all([
    listGroups.run(context, { ...noInput, query: { includeVariables: false } }),
    listRepositories.run(context, noInput),
    listPipelines.run(context, noInput),
  ]);
  return { orgId: context.orgId, groups, repositories, pipelines };
};

/** An owner as one text: `group:ID`. */
export const ownerKey = ({ scope, orgId, groupId, repoId, pipelineId }: Variable): string =>
  `${scope}:${groupId ?? repoId ?? pipelineId ?? orgId}`;

export const ownerChoices = ({ orgId, groups, repositories, pipelines }: Owners): Choice[] => {
  const names = new Map(repositories.map(({ id, fullName }) => [id, fullName]));
  return [
    { value: `organization:${orgId}`, label: orgId, group: "Organization" },
    ...groups.map(({ id, name }) => ({ value: `group:${id}`, label: name, group: "Groups" })),
    ...repositories.map(({ id, fullName }) => ({ value: `repository:${id}`, label: fullName, group: "Repositories" })),
    ...pipelines.map(({ id, name, repoId }) => ({
      value: `pipeline:${id}`,
      label: `${names.get(repoId) ?? ""} / ${name}`,
      group: "Pipelines",
    })),
  ];
};

/** The fields of a variable, or of a filter, that name its owner. */
export const ownerFields = (key: string, orgId: string) => {
  const [scope = "", id = ""] = key.split(":");
  const fields = { organization: { orgId: id }, group: { orgId, groupId: id }, repository: { repoId: id } };
  if (scope === "pipeline") return { scope: scope as Scope, pipelineId: id };
  return { scope: scope as Scope, ...fields[scope as keyof typeof fields] };
};

export const ownerPage = (key: string): string | null => {
  const [scope, id] = key.split(":");
  if (scope === "group") return `/app/groups/${id}`;
  if (scope === "repository") return `/app/repositories/${id}`;
  return scope === "pipeline" ? `/app/pipelines/${id}` : null;
};
