import type { Access } from "../../services/core/access.ts";
import type { Context } from "../../services/core/context.ts";
import { ProblemNotice } from "../parts/form-page.tsx";
import type { Child } from "./markup.ts";
import { type Form, formAt, type Page, type PageRequest, type Section } from "./page-definition.ts";

interface Question {
  /** The name of the record to remove. */
  name: string;
  /** The other records that the removal deletes, and the records that stay. */
  consequences: Child;
  /** A form field, for a removal that offers a choice. */
  choice?: Child;
  /** The path to which a person returns without removing the record. */
  back: string;
  /** The path that opens after the removal. */
  next: string;
}

interface Removal {
  path: string;
  section: Section;
  access: Access;
  /** The word on the button, such as remove or revoke. */
  verb: string;
  question(context: Context, id: string, request: PageRequest): Promise<Question>;
  remove(context: Context, id: string, form: URLSearchParams): Promise<unknown>;
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const QuestionForm = ({ verb, request, question }: { verb: string; request: PageRequest; question: Question }) => (
  <div class="column">
    <ProblemNotice request={{ problem: request.problem, form: null }} />
    <h1>
      {verb} <bdi>{question.name}</bdi>?
    </h1>
    <p>{question.consequences}</p>
    <form method="post" class="stack">
      {question.choice}
      <span class="actions">
        <button type="submit" class="danger">
          {verb}
        </button>
        <a class="button" href={question.back}>
          Cancel
        </a>
      </span>
    </form>
  </div>
);

/**
 * Creates a page that names the record and asks for confirmation, and the form that removes the record. They require no
 * script.
 */
export const confirmRemoval = (removal: Removal): [Page, Form] => {
  const { path, section, access, remove } = removal;
  const verb = capitalize(removal.verb);
  const page: Page = {
    path,
    role: access.role ?? "admin",
    async show(context, request) {
      const question = await removal.question(context, request.params.id ?? "", request);
      return {
        title: `${verb} ${question.name}`,
        section,
        body: <QuestionForm verb={verb} request={request} question={question} />,
      };
    },
  };
  const form = formAt(path, page, removal, async (context, request) => {
    const id = request.params.id ?? "";
    const { next } = await removal.question(context, id, request);
    await remove(context, id, request.form);
    return { to: next, notice: "removed" };
  });
  return [page, form];
};
