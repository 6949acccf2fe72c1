import type { Group } from "../../protocol/group.ts";
import type { Pipeline } from "../../protocol/pipeline.ts";
import type { Repository } from "../../protocol/repository.ts";
import type { Scope, Variable } from "../../protocol/variable.ts";
import type { Context } from "../../services/core/context.ts";
import { listPipelines } from "../../services/repositories/pipelines.ts";
import { listRepositories } from "../../services/repositories/repositories.ts";
import { listGroups } from "../../services/variables/groups.ts";
import type { Choice } from "../parts/fields.tsx";
import { Table } from "../parts/lists.tsx";
import { RelativeDay } from "../parts/time.tsx";
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

/** Returns a variable's owner as one text, `SCOPE:ID`, for select fields and addresses. */
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

/** Returns the owner in a `SCOPE:ID` text as the fields of a variable or a filter. */
export const ownerFields = (key: string, orgId: string) => {
  const [scope = "", id = ""] = key.split(":");
  const fields = { organization: { orgId: id }, group: { orgId, groupId: id }, repository: { repoId: id } };
  if (scope === "pipeline") return { scope: scope as Scope, pipelineId: id };
  return { scope: scope as Scope, ...fields[scope as keyof typeof fields] };
};

/** Returns the path of the owner's page; null for the organization, which has no page. */
export const ownerPage = (key: string): string | null => {
  const [scope, id] = key.split(":");
  if (scope === "group") return `/app/groups/${id}`;
  if (scope === "repository") return `/app/repositories/${id}`;
  return scope === "pipeline" ? `/app/pipelines/${id}` : null;
};

const Owner = ({ variable, owners }: { variable: Variable; owners: Choice[] }) => {
  const key = ownerKey(variable);
  const name = owners.find(({ value }) => value === key)?.label ?? variable.scope;
  const page = ownerPage(key);
  return page ? <a href={page}>{name}</a> : name;
};

const Row = ({ variable, owners, now }: { variable: Variable; owners: Choice[]; now: Date }) => (
  <tr
    class={variable.isActive ? undefined : "inactive"}
    data-row
    data-end={variable.isActive ? `/app/variables/${variable.id}/remove` : undefined}
  >
    <th scope="row">
      <a href={`/app/variables/${variable.id}`} class="what">
        <code>{variable.key}</code>
      </a>
      {!variable.isActive && <span class="label">inactive</span>}
      {variable.isFile && <span class="label">file</span>}
    </th>
    <td>{variable.isSecret ? <span class="label">secret</span> : <code class="value">{variable.value}</code>}</td>
    <td>
      <Owner variable={variable} owners={owners} />
      <span class="why">{variable.scope}</span>
    </td>
    <td data-label="last used">
      {variable.lastUsedAt ? <RelativeDay at={variable.lastUsedAt} now={now} /> : <span class="hint">never</span>}
    </td>
    <td>{variable.description}</td>
  </tr>
);

interface VariableTableProps {
  variables: Variable[];
  /** The names of the possible owners. */
  owners: Choice[];
  now: Date;
}

export const VariableTable = ({ variables, owners, now }: VariableTableProps) => (
  <Table columns={["Key", "Value", "Owner", "Last used", "Description"]}>
    {variables.map((variable) => (
      <Row variable={variable} owners={owners} now={now} />
    ))}
  </Table>
);
