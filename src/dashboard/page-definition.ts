import type { Child } from "hono/jsx";
import type { Role } from "../protocol/token.ts";
import type { Access } from "../services/core/access.ts";
import type { Context } from "../services/core/context.ts";
import type { Refusal } from "../services/core/refusal.ts";
import type { ScriptName } from "./asset-url.ts";

/** What a browser asked for; `entered` and `problem` are there where a form was sent and refused. */
export interface Asked {
  params: Record<string, string>;
  query: URLSearchParams;
  /** The address of this service as the browser knows it. */
  origin: string;
  entered: URLSearchParams | null;
  problem: Refusal | null;
}

export type Section = "builds" | "agents" | "repositories" | "variables" | "tokens" | "audit";

/** What a page shows within the frame that all of them have. */
export interface View {
  title: string;
  /** Null where the page belongs to none. */
  section: Section | null;
  body: Child;
  script?: ScriptName;
  /** Seconds until the page looks again for what has changed. */
  again?: number;
  /** How it stands with what is shown: a notice of what a form did is over when that changes. */
  state?: string;
}

export interface Page {
  path: string;
  role: Role;
  show(context: Context, asked: Asked): Promise<View>;
}

/** Where a form that was obeyed leads, and which of the known notices greets there. */
export interface Went {
  to: string;
  done?: string;
}

/** A form's target: `act` obeys it, and `page` is shown again with the problem where it is refused. */
export interface Form {
  path: string;
  access: Access;
  page: Page;
  act(context: Context, asked: Asked & { entered: URLSearchParams }): Promise<Went | View>;
}
