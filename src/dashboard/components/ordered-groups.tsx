import type { Group } from "../../protocol/group.ts";
import type { PageRequest } from "../page-definition.ts";

/** Groups in the order that counts, then the others as they come. */
const inOrder = (groups: Group[], ids: string[]): Group[] => {
  const first = ids.flatMap((id) => groups.find((group) => group.id === id) ?? []);
  return [...first, ...groups.filter((group) => !first.includes(group))];
};

const MOVES = [
  { way: "up", sign: "↑" },
  { way: "down", sign: "↓" },
] as const;

/** Which groups a pipeline attaches, in order: the buttons lead back here with what was form. */
export const OrderedGroups = ({
  request,
  groups,
  chosen,
}: {
  request: PageRequest;
  groups: Group[];
  chosen: string[];
}) => {
  if (groups.length === 0) return null;
  const { form } = request;
  const ids = form ? form.getAll("groupIds") : chosen;
  const ordered = inOrder(groups, form ? form.getAll("order") : chosen);
  return (
    <fieldset class="field groups">
      <legend>Variable groups</legend>
      <p class="hint">A later one wins over the ones before it.</p>
      <ol>
        {ordered.map(({ id, name, variableCount }) => (
          <li>
            <input type="hidden" name="order" value={id} />
            <label>
              <input type="checkbox" name="groupIds" value={id} checked={ids.includes(id)} /> <bdi>{name}</bdi>{" "}
              <span class="hint">{variableCount} variables</span>
            </label>
            <span class="actions">
              {MOVES.map(({ way, sign }) => (
                <button type="submit" name={way} value={id} class="quiet" aria-label={`Move ${name} ${way}`}>
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

/** What was entered with one group moved, where a button asked for it. */
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
