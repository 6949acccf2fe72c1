import type * as z from "zod/mini";
import type { Group } from "../../protocol/group.ts";
import type { EnvironmentEntry } from "../../protocol/pipeline.ts";
import { count } from "../parts/format.ts";
import { CommaList, Table } from "../parts/lists.tsx";
import type { FormState } from "../shell/page-definition.ts";

/** Returns the attached groups in their order, then the others. */
const sortGroups = (groups: Group[], ids: string[]): Group[] => {
  const attached = ids.flatMap((id) => groups.find((group) => group.id === id) ?? []);
  return [...attached, ...groups.filter((group) => !attached.includes(group))];
};

const MOVES = [
  { direction: "up", sign: "↑" },
  { direction: "down", sign: "↓" },
] as const;

interface OrderedGroupsProps {
  request: FormState;
  groups: Group[];
  /** The ids of the attached groups, in order. */
  attached: string[];
}

/**
 * Shows the groups that a pipeline attaches, in order. The buttons send the form, and the answer shows the new order.
 */
export const OrderedGroups = ({ request, groups, attached }: OrderedGroupsProps) => {
  if (groups.length === 0) return null;
  const { form } = request;
  const ids = form ? form.getAll("groupIds") : attached;
  const ordered = sortGroups(groups, form ? form.getAll("order") : attached);
  return (
    <fieldset class="field groups">
      <legend>Variable groups</legend>
      <p class="hint">When two groups have the same key, the later group wins.</p>
      <ol>
        {ordered.map(({ id, name, variableCount }) => (
          <li>
            <input type="hidden" name="order" value={id} />
            <label>
              <input type="checkbox" name="groupIds" value={id} checked={ids.includes(id)} /> <bdi>{name}</bdi>{" "}
              <span class="hint">{count(variableCount, "variable")}</span>
            </label>
            <span class="actions">
              {MOVES.map(({ direction, sign }) => (
                <button
                  type="submit"
                  name={direction}
                  value={id}
                  class="quiet"
                  aria-label={`Move ${name} ${direction}`}
                >
                  {sign}
                </button>
              ))}
            </span>
          </li>
        ))}
      </ol>
    </fieldset>
  );
};

/** Returns the form with one group moved, if one of these buttons sent the form; otherwise null. */
export const reorderedForm = (form: URLSearchParams): URLSearchParams | null => {
  const id = form.get("up") ?? form.get("down");
  if (id === null) return null;
  const order = form.getAll("order");
  const at = order.indexOf(id);
  const to = Math.min(order.length - 1, Math.max(0, at + (form.has("up") ? -1 : 1)));
  order.splice(to, 0, ...order.splice(at, 1));
  const next = new URLSearchParams(form);
  for (const name of ["up", "down", "order"]) next.delete(name);
  for (const each of order) next.append("order", each);
  return next;
};

type Entry = z.infer<typeof EnvironmentEntry>;
type Source = Pick<Entry, "scope" | "groupId">;

/** The length up to which an environment is open at first. */
const SHORT = 20;

const SourceName = ({ source: { scope, groupId }, groups }: { source: Source; groups: Map<string, string> }) =>
  scope === "group" && groupId !== null ? (
    <>
      group <bdi>{groups.get(groupId) ?? ""}</bdi>
    </>
  ) : (
    <span>{scope}</span>
  );

const Row = ({ entry, groups }: { entry: Entry; groups: Map<string, string> }) => (
  <tr>
    <td>
      <code>{entry.key}</code>
      {entry.isFile && <span class="label">file</span>}
    </td>
    <td>{entry.isSecret ? <span class="label">secret</span> : <code>{entry.value}</code>}</td>
    <td>
      {entry.variableId ? (
        <a href={`/app/variables/${entry.variableId}`}>
          <SourceName source={entry} groups={groups} />
        </a>
      ) : (
        <SourceName source={entry} groups={groups} />
      )}
    </td>
    <td>
      <CommaList items={entry.overrides.map((overridden) => <SourceName source={overridden} groups={groups} />)} />
    </td>
  </tr>
);

/** Shows the environment for a pipeline's builds, with each key's source and the values that it overrides. */
export const EnvironmentPreview = ({ entries, groups }: { entries: Entry[]; groups: Map<string, string> }) => (
  <details class="environment" open={entries.length <= SHORT}>
    <summary>Environment: {count(entries.length, "key")}</summary>
    {entries.some(({ isSecret, isFile }) => isSecret || isFile) && (
      <p class="hint">Untrusted builds get no secrets and no files.</p>
    )}
    {entries.length === 0 ? (
      <p class="hint">No variables apply. Builds get only CI and the variables that begin with MILLRACE_.</p>
    ) : (
      <Table columns={["Key", "Value", "From", "Overrides"]}>
        {entries.map((entry) => (
          <Row entry={entry} groups={groups} />
        ))}
      </Table>
    )}
  </details>
);
