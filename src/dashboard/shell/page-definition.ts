import { includesRole, type Role } from "../../protocol/token.ts";
import type { Access } from "../../services/core/access.ts";
import type { Context } from "../../services/core/context.ts";
import type { Refusal } from "../../services/core/refusal.ts";
import type { ScriptName } from "./document.tsx";
import type { Child } from "./markup.ts";

/** A browser's request for a page. `form` and `problem` are set when a form was sent and refused. */
export interface PageRequest {
  params: Record<string, string>;
  query: URLSearchParams;
  /** The origin of this service as the browser sees it. */
  origin: string;
  form: URLSearchParams | null;
  problem: Refusal | null;
}

/** What the fields of a form show: what was sent, and what is wrong with it. */
export type FormState = Pick<PageRequest, "form" | "problem">;

/** A form that a browser sent. */
export type FormRequest = PageRequest & { form: URLSearchParams };

export type Section =
  | "overview"
  | "builds"
  | "agents"
  | "repositories"
  | "connections"
  | "schedules"
  | "variables"
  | "groups"
  | "tokens"
  | "audit";

/** What a page shows within the layout that all pages share. */
export interface View {
  title: string;
  /** The entry of the navigation to highlight; null for none. */
  section: Section | null;
  /** How the trail calls the page where its title repeats what stands before it. */
  crumb?: string;
  /** The pages above this one, from the section down; without them the section alone. */
  trail?: { name: string; href: string }[];
  body: Child;
  /** The branch that a person may follow on this page. */
  branch?: { repoId: string; name: string };
  script?: ScriptName;
  /** The origin of another site to which a form of the page is sent. */
  formTarget?: string;
  /** Seconds until the page loads itself again; it does not where this is left out. */
  refreshSeconds?: number;
  /** The state of what the page shows. When it changes, the notice of the last form disappears. */
  state?: string;
}

export interface Page {
  path: string;
  role: Role;
  show(context: Context, request: PageRequest): Promise<View>;
}

/** Where the browser goes after a form was accepted, and the key of the notice to show there. */
export interface Redirect {
  to: string;
  notice?: string;
}

/** The target of a form. When `submit` refuses the form, `page` is shown again with the problem. */
export interface Form {
  path: string;
  access: Access;
  page: Page;
  submit(context: Context, request: FormRequest): Promise<Redirect | View>;
}

/** What one module shows below `/app`: its pages, and the targets of their forms. */
export type Pages = (Page | Form)[];

/** A form of a page that runs a verb, and returns to the page where the verb refuses it. */
export const formAt = (path: string, page: Page, { access }: Pick<Form, "access">, submit: Form["submit"]): Form => ({
  path,
  access,
  page,
  submit,
});

/** The same at the path of its page. */
export const formOn = (page: Page, verb: Pick<Form, "access">, submit: Form["submit"]): Form =>
  formAt(page.path, page, verb, submit);

type Place = NonNullable<View["trail"]>[number];

/** The places above the pages of a repository, and of a connection. */
export const repositoryTrail = ({ id, fullName }: { id: string; fullName: string }): Place[] => [
  { name: "Repositories", href: "/app/repositories" },
  { name: fullName, href: `/app/repositories/${id}` },
];

export const connectionTrail = ({ id, name }: { id: string; name: string }): Place[] => [
  { name: "Connections", href: "/app/connections" },
  { name, href: `/app/connections/${id}` },
];

/** Whether the signed-in person has this role or a higher one. Pages offer only what a person may do. */
export const hasRole = (context: Context, role: Role): boolean => {
  const own = context.admitted.role;
  return own !== null && includesRole(own, role);
};
