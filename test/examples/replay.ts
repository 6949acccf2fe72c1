import type { Example } from "../../src/api/description/examples.ts";
import type { Route } from "../../src/api/route.ts";
import type { Step } from "./scenario.ts";

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Answers = Record<string, any>;

/** A sent request, with its answer. */
export interface Exchange extends Example {
  method: string;
  path: string;
  responseHeaders: Headers;
}

/** Replaces each `$name.field` in the value with that field of an earlier answer. */
const resolve = <T>(value: T, answers: Answers): T => {
  if (typeof value === "string") {
    const [, name = "", path = ""] = /^\$(\w+)\.([\w.]+)$/.exec(value) ?? [];
    return name === "" ? value : path.split(".").reduce((found, field) => found[field], answers[name]);
  }
  if (Array.isArray(value)) return value.map((inner) => resolve(inner, answers)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner, answers)])) as T;
};

const routeOf = (routes: Route[], operation: string): Route => {
  const found = routes.find(({ id }) => id === operation);
  if (!found) throw new Error(`There is no operation ${operation}`);
  return found;
};

/** The step whose answer has the token of each sender. */
const TOKENS: Record<NonNullable<Step["as"]>, string> = {
  admin: "org",
  registration: "registration",
  agent: "agent",
  operator: "",
};

interface Received {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  answer: any;
}

const receive = async (response: Response): Promise<Received> => {
  const { status, headers } = response;
  const text = await response.text();
  const isJson = /[/+]json(?:;|$)/.test(headers.get("Content-Type") ?? "");
  const isArchive = headers.get("Content-Type") === "application/zip";
  return { status, headers, answer: text === "" || isArchive ? undefined : isJson ? JSON.parse(text) : text };
};

/** Returns the first answer with the value at the path. Without `value`, any value will do. */
const firstWith = async (path: string, value: number | undefined, ask: () => Promise<Received>): Promise<Received> => {
  const received = await ask();
  const found = path.split(".").reduce((inner, field) => inner?.[field], received.answer) ?? null;
  if (value === undefined ? found !== null : found === value) return received;
  await new Promise((resolve) => setTimeout(resolve, 50));
  return firstWith(path, value, ask);
};

/** Sends the steps in order. Each may use values from earlier answers. */
export const replay = async (
  send: (path: string, init: RequestInit) => Promise<Response>,
  operatorToken: string,
  routes: Route[],
  steps: Step[],
): Promise<Exchange[]> => {
  const answers: Answers = {};
  const exchanges: Exchange[] = [];
  for (const { name, until, becomes, ...step } of steps) {
    const resolved = resolve(step, answers);
    const { as = "admin", id, deliveryId, parts = {}, query, headers = {}, body } = resolved;
    const { method, path } = routeOf(routes, step.operation);
    const search = query ? `?${new URLSearchParams(query)}` : "";
    const isText = typeof body === "string";
    const token = as === "operator" ? operatorToken : answers[TOKENS[as]].token;
    const ask = async () => {
      const sent = {
        Authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "Content-Type": isText ? "application/octet-stream" : "application/json" }),
        // Inside workerd, no network adds it.
        ...(isText ? { "Content-Length": String(new TextEncoder().encode(body).length) } : {}),
        ...Object.fromEntries(Object.entries(headers).map(([header, value]) => [header, String(value)])),
      };
      const bytes = body === undefined ? undefined : isText ? body : JSON.stringify(body);
      const known = path.replace(":id", id ?? "").replace(":deliveryId", deliveryId ?? "");
      const place = known.replace(/:(\w+)/g, (_, part: string) => parts[part] ?? "");
      return receive(await send(place + search, { method, headers: sent, body: bytes }));
    };
    const { status, headers: responseHeaders, answer } = await (until ? firstWith(until, becomes, ask) : ask());
    if (name) answers[name] = answer;
    exchanges.push({ ...resolved, as, status, answer, method, path, responseHeaders });
  }
  return exchanges;
};
