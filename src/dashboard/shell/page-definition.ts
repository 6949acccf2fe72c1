import { includesRole, type Role } from "../../protocol/token.ts";
import type { Access } from "../../services/core/access.ts";
import type { Context } from "../../services/core/context.ts";
import type { Refusal } from "../../services/core/refusal.ts";
import type { ScriptName } from "./document.tsx";
import type { Child } from "./markup.ts";

/** A browser's request for a page. `form` and `problem` are set after the service rejected a form. */
export interface PageRequest {
  params: Record<string, string>;
  query: URLSearchParams;
  /** This service's origin, as the browser sees it. */
  origin: string;
  form: URLSearchParams | null;
  problem: Refusal | null;
}

/** The state of a form's fields, with the sent values and their problems. */
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

/** A page's content within the layout that all pages share. */
export interface View {
  title: string;
  /** The navigation entry to highlight; null to highlight no entry. */
  section: Section | null;
  /** The page's name in the trail, if its title would repeat the names before it. */
  crumb?: string;
  /** The pages above this one, from the section down; absent if only the section is above it. */
  trail?: { name: string; href: string }[];
  body: Child;
  /** The branch that a person may follow on this page. */
  branch?: { repoId: string; name: string };
  script?: ScriptName;
  /** The origin of another site that receives one of the page's forms. */
  formTarget?: string;
  /** Seconds until the page refreshes itself; absent if it does not refresh. */
  refreshSeconds?: number;
  /** The state of the page's subject. When the state changes, the last form's notice disappears. */
  state?: string;
}

export interface Page {
  path: string;
  role: Role;
  show(context: Context, request: PageRequest): Promise<View>;
}

/** The page that the browser opens after the service accepted a form, with the key of its notice. */
export interface Redirect {
  to: string;
  notice?: string;
}

/** The target of a form. If `submit` rejects the form, the service shows `page` again with the problem. */
export interface Form {
  path: string;
  access: Access;
  page: Page;
  submit(context: Context, request: FormRequest): Promise<Redirect | View>;
}

/** A module's content below `/app`: its pages, and the targets of their forms. */
export type Pages = (Page | Form)[];

/** Creates a form for a page. The form runs a verb. If the verb rejects the form, the service shows the page again. */
export const formAt = (path: string, page: Page, { access }: Pick<Form, "access">, submit: Form["submit"]): Form => ({
  path,
  access,
  page,
  submit,
});

/** Creates such a form at the path of its page. */
export const formOn = (page: Page, verb: Pick<Form, "access">, submit: Form["submit"]): Form =>
  formAt(page.path, page, verb, submit);

type Place = NonNullable<View["trail"]>[number];

/** Returns the trail above a repository's pages. `connectionTrail` returns the trail above a connection's pages. */
export const repositoryTrail = ({ id, fullName }: { id: string; fullName: string }): Place[] => [
  { name: "Repositories", href: "/app/repositories" },
  { name: fullName, href: `/app/repositories/${id}` },
];

export const connectionTrail = ({ id, name }: { id: string; name: string }): Place[] => [
  { name: "Connections", href: "/app/connections" },
  { name, href: `/app/connections/${id}` },
];

/** Reports whether the signed-in person has at least this role. Pages offer only permitted actions. */
export const hasRole = (context: Context, role: Role): boolean => {
  const own = context.admitted.role;
  return own !== null && includesRole(own, role);
};
