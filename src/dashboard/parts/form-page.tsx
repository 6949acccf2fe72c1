import type { Child } from "hono/jsx";
import type { PageRequest } from "../shell/page-definition.ts";
import { ProblemNotice } from "./problem-notice.tsx";

/** A form whose fields stand below each other. It is sent to the address of its page. */
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

/** The body of a page that is one form: its heading, what is wrong with what was sent, the fields and the button. */
export const FormPage = ({ heading, request, submit, children }: FormPageProps) => (
  <div class="column">
    <h1>{heading}</h1>
    <ProblemNotice request={request} />
    <StackedForm submit={submit}>{children}</StackedForm>
  </div>
);
