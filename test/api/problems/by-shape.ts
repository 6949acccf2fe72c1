import type * as z from "zod/mini";
import type { Route } from "../../../src/api/route.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import type { Problem, ProblemKind } from "../../../src/protocol/problem.ts";
import { type Answer, call } from "../../support/api.ts";
import { callDeployedWith } from "../../support/deployment.ts";
import { type FilledOrganization, nounOf } from "../../support/filled-organization.ts";
import { UUID } from "../bad-input/stage.ts";

type CallerKind = "api" | "registration" | "agent" | "operator";
export interface Callers extends FilledOrganization {
  tokens: Record<CallerKind, string>;
}
type Provoke = (route: Route, callers: Callers) => Promise<Answer<Problem>>;

const mayCall = ({ verb: { access } }: Route, kind: CallerKind): boolean =>
  kind === "api" ? access.role !== undefined : access[kind] === true;

const KINDS: CallerKind[] = ["agent", "registration", "api", "operator"];
const allowed = (route: Route, { tokens }: Callers): string => tokens[KINDS.find((kind) => mayCall(route, kind))!];
const refused = (route: Route, { tokens }: Callers): string => tokens[KINDS.find((kind) => !mayCall(route, kind))!];

/** Values for a path's parameters except its id. */
const OTHERS: Record<string, string> = {
  artifactId: UUID,
  cacheId: UUID,
  part: "1",
  name: "none",
  path: "none",
  testId: "0".repeat(16),
};

const pathOf = (route: Route, { ids }: Callers, id = ids[nounOf(route)] ?? ""): string => {
  // A text longer than any grant names no grant.
  const known = { ...OTHERS, id, grant: id === "x" ? "x".repeat(4001) : "x" };
  const path = route.path.replace(/:(\w+)/g, (whole, name) => (known as Record<string, string>)[name] ?? whole);
  return path + (/^write.*Log$/.test(route.id) ? "?offset=0" : "");
};

/** Returns a body. Any body works where D1 or an object rejects the caller: the service checks the body later. */
const bodyOf = ({ id, verb, method }: Route): unknown =>
  id === "createOrganization" ? { id: "never-made", name: "x" } : verb.body && method !== "GET" ? {} : undefined;

/** Returns the deployment in which every call to another part of the service fails with this error. */
const deployedWithout = (message: string) => {
  const fail = () => {
    throw new Error(message);
  };
  const part = { withSession: fail, prepare: fail, getByName: fail } as never;
  return callDeployedWith({ DB: part, AGENT_POOL: part, BUILD_LOG: part });
};

const NO_MORE: RateLimit = { limit: async () => ({ success: false }) };
const LEASE = { "X-Lease": "1" };
const JSON_BODY = { "Content-Type": "application/json", ...LEASE };

const deployed =
  (send: ReturnType<typeof callDeployedWith>): Provoke =>
  (route, callers) =>
    send(allowed(route, callers), route.method, pathOf(route, callers), bodyOf(route), LEASE);

const withBody =
  (body: string | unknown[], headers: Record<string, string> = JSON_BODY): Provoke =>
  (route, callers) =>
    call(allowed(route, callers), route.method, pathOf(route, callers), body, headers);

/** Sends invalid values for everything that the route checks: its body, its query and its headers. */
const invalid: Provoke = (route, callers) => {
  const fields = Object.keys((route.verb.query as z.ZodMiniObject | undefined)?.shape ?? {});
  const query = new URLSearchParams(fields.map((name) => [name, "x".repeat(300)]));
  const path = `${pathOf(route, callers).split("?")[0]}?${query}`;
  const headers = { "X-Lease": "x", "Idempotency-Key": "not one word" };
  return call(allowed(route, callers), route.method, path, route.verb.body && [], headers);
};

/** Requests for any route that raise a problem by the route's shape. */
export const BY_SHAPE: Partial<Record<ProblemKind, Provoke>> = {
  unauthenticated: (route, callers) => call(null, route.method, pathOf(route, callers), bodyOf(route)),
  forbidden: (route, callers) =>
    call(refused(route, callers), route.method, pathOf(route, callers), bodyOf(route), LEASE),
  "not-found": (route, callers) =>
    call(allowed(route, callers), route.method, pathOf(route, callers, "x"), bodyOf(route), LEASE),
  "stale-version": (route, callers) =>
    call(callers.tokens.api, route.method, pathOf(route, callers), bodyOf(route), { "If-Match": '"v0"' }),
  "malformed-body": withBody("{"),
  "unsupported-media-type": withBody("{}", { ...LEASE, "Content-Type": "text/plain" }),
  "too-large": (route, callers) =>
    withBody(JSON.stringify("x".repeat(route.verb.bodyBytes ?? LIMITS.bodyBytes)))(route, callers),
  invalid,
  "rate-limited": deployed(callDeployedWith({ TOKEN_RATE: NO_MORE, AGENT_RATE: NO_MORE })),
  unavailable: deployed(deployedWithout("D1_ERROR: away")),
  internal: deployed(deployedWithout("a mistake in the code")),
  "keyring-unavailable": (route, callers) =>
    callDeployedWith({ TOKEN_KEYS: "" })(callers.tokens.api, route.method, pathOf(route, callers), bodyOf(route)),
};
