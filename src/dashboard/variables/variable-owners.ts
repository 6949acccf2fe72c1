import type { Group } from "../../protocol/group.ts";
import type { Pipeline } from "../../protocol/pipeline.ts";
import type { Repository } from "../../protocol/repository.ts";
import type { Scope, Variable } from "../../protocol/variable.ts";
import type { Context } from "../../services/core/context.ts";
import { listPipelines } from "../../services/repositories/pipelines.ts";
import { listRepositories } from "../../services/repositories/repositories.ts";
import { listGroups } from "../../services/variables/groups.ts";
import type { Choice } from "../parts/fields.tsx";
import { noInput } from "../shell/verb-input.ts";

/** The possible owners of a variable: the organization, its groups, repositories and pipelines. */
interface Owners {
  orgId: string;
  groups: Group[];
  repositories: Repository[];
  pipelines: Pipeline[];
}

export const readVariableOwners = async (context: Context): Promise<Owners> => {
  const [groups, repositories, pipelines] = await Promise.all([
    listGroups.run(context, { ...noInput, query: { includeVariables: false } }),
    listRepositories.run(context, noInput),
    listPipelines.run(context, noInput),
  ]);
  return { orgId: context.orgId, groups, repositories, pipelines };
};

/** A variable's owner as one text, `SCOPE:ID`, for select fields and addresses. */
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

/** The owner of a `SCOPE:ID` text as fields of a variable or a filter. */
export const ownerFields = (key: string, orgId: string) => {
  const [scope = "", id = ""] = key.split(":");
  const fields = { organization: { orgId: id }, group: { orgId, groupId: id }, repository: { repoId: id } };
  if (scope === "pipeline") return { scope: scope as Scope, pipelineId: id };
  return { scope: scope as Scope, ...fields[scope as keyof typeof fields] };
};

/** The path of the owner's page; null for the organization, which has none. */
export const ownerPage = (key: string): string | null => {
  const [scope, id] = key.split(":");
  if (scope === "group") return `/app/groups/${id}`;
  if (scope === "repository") return `/app/repositories/${id}`;
  return scope === "pipeline" ? `/app/pipelines/${id}` : null;
};
