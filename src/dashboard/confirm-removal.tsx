import type { Child } from "hono/jsx";
import type { Access } from "../services/core/access.ts";
import type { Context } from "../services/core/context.ts";
import { ProblemNotice } from "./components/problem-notice.tsx";
import type { Form, Page, PageRequest, Section } from "./page-definition.ts";

interface Question {
  name: string;
  /** What goes with it, and what stays. */
  consequences: Child;
  /** A field of the form, where there is something to choose. */
  choice?: Child;
  back: string;
  /** Where it leads when it is done. */
  next: string;
}

interface Removal {
  path: string;
  section: Section;
  access: Access;
  /** The verb on the button: remove, revoke. */
  verb: string;
  question(context: Context, id: string, request: PageRequest): Promise<Question>;
  remove(context: Context, id: string, form: URLSearchParams): Promise<unknown>;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Asks before something is gone, by naming it: a page of its own, so that it works without a script. */
export const confirmRemoval = ({
  path,
  section,
  access,
  verb,
  question,
  remove,
}: Removal): { page: Page; form: Form } => {
  const page: Page = {
    path,
    role: access.role ?? "admin",
    async show(context, request) {
      const { params, problem } = request;
      const { name, consequences, choice, back } = await question(context, params.id ?? "", request);
      return {
        title: `${capital(verb)} ${name}`,
        section,
        body: (
          <div class="column">
            <ProblemNotice request={{ problem, form: null }} />
            <h1>
              {capital(verb)} <bdi>{name}</bdi>?
            </h1>
            <p>{consequences}</p>
            <form method="post" class="stack">
              {choice}
              <span class="actions">
                <button type="submit" class="danger">
                  {capital(verb)}
                </button>
                <a class="button" href={back}>
                  Keep it
                </a>
              </span>
            </form>
          </div>
        ),
      };
    },
  };
  const form: Form = {
    path,
    access,
    page,
    async submit(context, request) {
      const { params, form } = request;
      const { next } = await question(context, params.id ?? "", request);
      await remove(context, params.id ?? "", form);
      return { to: next, notice: "removed" };
    },
  };
  return { page, form };
};
