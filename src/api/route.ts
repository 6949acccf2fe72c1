import type * as z from "zod/mini";
import type { Verb } from "../services/core/verb.ts";
import type { StreamRoute } from "../web/app-env.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Route {
  /** The operation's id: the verb's name, or another one if the verb has two paths. */
  id: string;
  method: Method;
  /** A second method with the same effect as the first. */
  alias?: Method;
  path: string;
  /** The success status. */
  status: 200 | 201 | 202 | 204;
  /** The path of the record that the route creates. */
  location?: string;
  // biome-ignore lint/suspicious/noExplicitAny: verbs have different inputs
  verb: Verb<any, any, any, z.ZodMiniType> | StreamRoute;
}

/** A verb under its own name, which is the operation's id, such as `{ listTokens }`. */
// biome-ignore lint/suspicious/noExplicitAny: as above
type Named = Record<string, Verb<any, any, any, any> | StreamRoute>;

const route =
  (method: Method, status: Route["status"], alias?: Method) =>
  (path: string, entry: Named): Route => {
    const [[id, verb]] = Object.entries(entry) as [[string, Route["verb"]]];
    return { id, method, alias, path, status, verb };
  };

export const get = route("GET", 200);
export const put = route("PUT", 200);
/** The same as `put`, without an answer. */
export const store = route("PUT", 204);
/** Changes the fields that the request contains. PUT is the main method, although other APIs usually use PATCH. */
export const update = route("PUT", 200, "PATCH");
export const act = route("POST", 200);
/** The same as `act`, without an answer. */
export const report = route("POST", 204);
export const remove = route("DELETE", 204);
/** Deletes something large, a part with each call. */
export const removeInShares = route("DELETE", 202);

/** Starts something that has no path of its own. */
export const post = route("POST", 201);
/** Creates a record at `location`. */
export const create = (path: string, location: string, entry: Named): Route => ({ ...post(path, entry), location });

/** Returns every method that leads to the route. */
export const methodsOf = ({ method, alias }: Route): Method[] => (alias ? [method, alias] : [method]);
