import type * as z from "zod/mini";
import type { ProblemKind } from "../../protocol/problem.ts";
import type { Verb } from "../../services/core/verb.ts";
import type { StreamRoute } from "../../web/app-env.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export type Tag =
  | "Variables"
  | "Groups"
  | "Connections"
  | "Repositories"
  | "Pipelines"
  | "Schedules"
  | "Builds"
  | "Agents"
  | "Agent protocol"
  | "Tokens"
  | "Audit"
  | "Operator";

/** A request header that a route reads besides those that follow from its shape; `description/headers.ts` has them. */
export type RequestHeader =
  | "BootId"
  | "ContentSha256"
  | "EarlierGrant"
  | "Features"
  | "Grant"
  | "HeldLease"
  | "IdempotencyKey"
  | "IfNoneMatch"
  | "IfRange"
  | "LastEventId"
  | "Lease"
  | "Range"
  | "Xcodes";

/** What only the description says about a route: the rest follows from its verb. */
export interface Documentation {
  tag: Tag;
  summary: string;
  description?: string;
  /** The record has an ETag; PUT and DELETE take If-Match. */
  versioned?: true;
  headers?: RequestHeader[];
  /** Problems that its own rules raise, besides those of every route of its shape. */
  problems?: ProblemKind[];
  /** Answers besides the success and the problems. */
  also?: Partial<Record<"101" | "204" | "206" | "304" | "416", string>>;
  /** Media types of the answer besides JSON, or instead of it. */
  text?: { types: string[]; alone?: true };
  /** The body is bytes. */
  bytes?: true;
}

/** A second path of a route: an operation with an id, and words, of its own. */
interface Alias {
  path: string;
  id: string;
  words: false | Partial<Pick<Documentation, "summary" | "description">>;
}

export interface Route {
  /** The operation's id: the name of its verb. */
  id: string;
  method: Method;
  /** A second method that does the same. */
  alias?: Method;
  path: string;
  /** A second path that does the same. */
  aliasPath?: Alias;
  /** Status of the success. */
  status: 200 | 201 | 202 | 204;
  /** Path of the record that the route creates. */
  location?: string;
  // biome-ignore lint/suspicious/noExplicitAny: verbs have different inputs
  verb: Verb<any, any, any, z.ZodMiniType> | StreamRoute;
  documentation?: Documentation;
}

/**
 * Whether the routes are read to be described. It is false in the Worker, and known to the bundler: wrangler puts the
 * user agent in at build time, so the texts of the rows stay out of the bundle.
 */
export const describing = navigator.userAgent !== "Cloudflare-Workers";

/** One verb under its own name, which is the id of the operation: `{ listTokens }`. */
// biome-ignore lint/suspicious/noExplicitAny: as above
type Named = Record<string, Verb<any, any, any, any> | StreamRoute>;

const route =
  (method: Method, status: Route["status"], alias?: Method) =>
  (path: string, named: Named, documentation: false | Documentation, aliasPath?: Alias): Route => {
    const [[id, verb]] = Object.entries(named) as [[string, Route["verb"]]];
    return { id, method, alias, path, aliasPath, status, verb, documentation: documentation || undefined };
  };

export const get = route("GET", 200);
export const put = route("PUT", 200);
/** Like `put`, without an answer. */
export const store = route("PUT", 204);
/** Changes the fields that are sent. PUT is the first name, PATCH the usual one of other APIs. */
export const update = route("PUT", 200, "PATCH");
export const act = route("POST", 200);
/** Like `act`, without an answer. */
export const report = route("POST", 204);
export const remove = route("DELETE", 204);
/** Deletes a share of something large at each call. */
export const removeInShares = route("DELETE", 202);

/** Begins something that has no path of its own. */
export const post = route("POST", 201);
/** Creates a record, which is then found at `location`. */
export const create = (path: string, location: string, named: Named, documentation: false | Documentation): Route => ({
  ...post(path, named, documentation),
  location,
});

/** Every method that leads to the route. */
export const methodsOf = ({ method, alias }: Route): Method[] => (alias ? [method, alias] : [method]);

/** The second paths of these routes, as routes. */
export const aliasesOf = (routes: Route[]): Route[] =>
  routes.flatMap(({ aliasPath, documentation, ...route }) => {
    if (!aliasPath) return [];
    const { words, ...named } = aliasPath;
    const described = documentation && { ...documentation, description: undefined, ...words };
    return { ...route, ...named, ...(described && { documentation: described }) };
  });
