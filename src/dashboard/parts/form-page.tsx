import { PROBLEMS } from "../../protocol/problem.ts";
import type { Child } from "../shell/markup.ts";
import type { FormState, PageRequest } from "../shell/page-definition.ts";

/** Returns the form's field for this pointer. The pointer names the field's value, or a part of the value. */
const fieldAt = (form: URLSearchParams | null, pointer: string): string | undefined =>
  [...(form?.keys() ?? [])].find((name) => `${pointer}/`.startsWith(`/${name}/`));

/** Separates a rejected form's errors into errors that the page shows at a field, and errors that the notice lists. */
const splitErrors = ({ problem, form }: FormState) => {
  const errors = problem?.extras.errors ?? [];
  const isAtField = ({ pointer }: { pointer: string }): boolean => fieldAt(form, pointer) !== undefined;
  return { atFields: errors.filter(isAtField), others: errors.filter((error) => !isAtField(error)) };
};

/** Returns the name of the first field with an error. This field gets the focus. */
export const firstWrongField = (request: FormState): string | null => {
  const [first] = splitErrors(request).atFields;
  return first ? (fieldAt(request.form, first.pointer) ?? null) : null;
};

/** Says that the service rejected the form, and why. The error of a field appears at the field. */
export const ProblemNotice = ({ request }: { request: FormState }) => {
  const { problem } = request;
  if (!problem) return null;
  const { atFields, others } = splitErrors(request);
  const count = new Set(atFields.map(({ pointer }) => fieldAt(request.form, pointer))).size;
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

/** Shows a form whose fields are below each other. The browser sends it to the address of its page. */
export const StackedForm = ({ submit, children }: { submit: string; children?: Child }) => (
  <form method="post" class="stack">
    {children}
    <button type="submit" class="primary">
      {submit}
    </button>
  </form>
);

interface FormPageProps {
  heading: Child;
  request: PageRequest;
  submit: string;
  children?: Child;
}

/** Shows a page with one form: its heading, its problems, its fields and its button. */
export const FormPage = ({ heading, request, submit, children }: FormPageProps) => (
  <div class="column">
    <h1>{heading}</h1>
    <ProblemNotice request={request} />
    <StackedForm submit={submit}>{children}</StackedForm>
  </div>
);
