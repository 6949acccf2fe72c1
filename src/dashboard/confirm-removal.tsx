import type { Child } from "hono/jsx";
import type { Access } from "../services/core/access.ts";
import type { Context } from "../services/core/context.ts";
import { ProblemNotice } from "./components/problem-notice.tsx";
import type { Asked, Form, Page, Section } from "./page-definition.ts";

interface Question {
  name: string;
  /** What goes with it, and what stays. */
  words: Child;
  /** A field of the form, where there is something to choose. */
  choice?: Child;
  back: string;
  /** Where it leads when it is done. */
  to: string;
}

interface Removal {
  path: string;
  section: Section;
  access: Access;
  /** The verb on the button: remove, revoke. */
  verb: string;
  ask(context: Context, id: string, asked: Asked): Promise<Question>;
  remove(context: Context, id: string, entered: URLSearchParams): Promise<unknown>;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Asks before something is gone, by naming it: a page of its own, so that it works without a script. */
export const removal = ({ path, section, access, verb, ask, remove }: Removal): { page: Page; form: Form } => {
  const page: Page = {
    ...{ path, role: access.role ?? "admin" },
    async show(context, asked) {
      const { params, problem } = asked;
      const { name, words, choice, back } = await ask(context, params.id ?? "", asked);
      return {
        ...{ title: `${capital(verb)} ${name}`, section },
        body: (
          <div class="column">
            <ProblemNotice asked={{ problem, entered: null }} />
            <h1>
              {capital(verb)} <bdi>{name}</bdi>?
            </h1>
            <p>{words}</p>
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
    ...{ path, access, page },
    async act(context, asked) {
      const { params, entered } = asked;
      const { to } = await ask(context, params.id ?? "", asked);
      await remove(context, params.id ?? "", entered);
      return { to, done: "removed" };
    },
  };
  return { page, form };
};
