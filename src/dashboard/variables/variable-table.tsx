import type { Variable } from "../../protocol/variable.ts";
import type { Choice } from "../parts/fields.tsx";
import { Table } from "../parts/table.tsx";
import { RelativeDay } from "../parts/time.tsx";
import { ownerKey, ownerPage } from "./variable-owners.ts";

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
  /** The names of the owners. */
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
