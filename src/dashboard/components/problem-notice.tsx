import { PROBLEMS } from "../../protocol/problem.ts";
import type { PageRequest } from "../page-definition.ts";

const fieldOf = (pointer: string): string => pointer.split("/")[1] ?? "";

/** What a form was refused for, apart: at fields that the browser sent, and with no field of it. */
const splitErrors = ({ problem, form }: Pick<PageRequest, "problem" | "form">) => {
  const errors = problem?.extras.errors ?? [];
  const isAtField = ({ pointer }: { pointer: string }): boolean => form?.has(fieldOf(pointer)) ?? false;
  return { atFields: errors.filter(isAtField), others: errors.filter((error) => !isAtField(error)) };
};

/** The field that a person is to look at first, by its name. */
export const firstWrongField = (request: Pick<PageRequest, "problem" | "form">): string | null => {
  const [first] = splitErrors(request).atFields;
  return first ? fieldOf(first.pointer) : null;
};

/** What happened and what was not changed; what is wrong with a field stands at the field. */
export const ProblemNotice = ({ request }: { request: Pick<PageRequest, "problem" | "form"> }) => {
  const { problem } = request;
  if (!problem) return null;
  const { atFields, others } = splitErrors(request);
  const count = new Set(atFields.map(({ pointer }) => fieldOf(pointer))).size;
  const title =
    count > 0 ? `${count} ${count === 1 ? "field needs" : "fields need"} a change` : PROBLEMS[problem.kind][1];
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{title}.</strong> {problem.extras.errors ? "Nothing was changed." : problem.message}
      </p>
      {others.length > 0 && (
        <ul>
          {others.map(({ pointer, detail }) => (
            <li>
              {pointer && <code>{pointer.slice(1)}</code>} {detail}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
};
