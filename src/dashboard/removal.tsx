import type { Child } from "hono/jsx";
import type { Access } from "../services/access.ts";
import type { Context } from "../services/context.ts";
import type { Form, Page, Section } from "./page.ts";
import { ProblemNotice } from "./parts/problem.tsx";

interface Question {
  name: string;
  /** What goes with it, and what stays. */
  words: Child;
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
  ask(context: Context, id: string): Promise<Question>;
  remove(context: Context, id: string): Promise<unknown>;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Asks before something is gone, by naming it: a page of its own, so that it works without a script. */
export const removal = ({ path, section, access, verb, ask, remove }: Removal): { page: Page; form: Form } => {
  const page: Page = {
    ...{ path, role: access.role ?? "admin" },
    async show(context, { params, problem }) {
      const { name, words, back } = await ask(context, params.id ?? "");
      return {
        ...{ title: `${capital(verb)} ${name}`, section },
        body: (
          <div class="column">
            <ProblemNotice problem={problem} />
            <h1>
              {capital(verb)} <bdi>{name}</bdi>?
            </h1>
            <p>{words}</p>
            <form method="post" class="actions">
              <button type="submit" class="danger">
                {capital(verb)}
              </button>
              <a class="button" href={back}>
                Keep it
              </a>
            </form>
          </div>
        ),
      };
    },
  };
  const form: Form = {
    ...{ path, access, page },
    async act(context, { params }) {
      const { to } = await ask(context, params.id ?? "");
      await remove(context, params.id ?? "");
      return { to, done: "removed" };
    },
  };
  return { page, form };
};
