import { PROBLEMS, type ProblemKind } from "../../protocol/problem.ts";
import type { Route } from "../routes.ts";
import { responseHeaders, takesIfMatch } from "./headers.ts";
import type { Media, Reference, Response } from "./openapi.ts";
import type { Operation } from "./operations.ts";
import { REMEDIES } from "./remedies.ts";
import type { JsonSchema } from "./schemas.ts";

const PROBLEM: JsonSchema = { $ref: "#/components/schemas/Problem" };

const capital = (kind: string): string => kind.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Every kind of problem the route can answer with: those of its shape, and those of its own rules. */
export const problemsOf = (route: Route, operation: Operation): ProblemKind[] => {
  const { verb } = route;
  const { idempotent, leased, problems = [] } = operation;
  const isChecked = verb.body || verb.query || idempotent || leased || operation.id === "heartbeat";
  return [
    ...(verb.body ? (["malformed-body"] as const) : []),
    ...(["unauthenticated", "forbidden"] as const),
    ...(verb.params ? (["not-found"] as const) : []),
    ...(takesIfMatch(route, operation) ? (["stale-version"] as const) : []),
    ...(verb.body ? (["too-large", "unsupported-media-type"] as const) : []),
    ...(isChecked ? (["invalid"] as const) : []),
    ...problems.filter((kind) => kind !== "too-large" || !verb.body),
    ...(["rate-limited", "internal", "unavailable", "keyring-unavailable"] as const),
  ];
};

const HEADERS: Record<number, string[]> = {
  401: ["Authenticate"],
  429: ["RetryAfter", "RateLimitPolicy"],
  503: ["RetryAfter"],
};

/** The answer with one status: several kinds of problem may share it. */
const problemResponse = (status: number, kinds: ProblemKind[]): Response => ({
  description: kinds
    .map((kind) => `${PROBLEMS[kind][1]} ([${kind}](/problems/${kind})): ${REMEDIES[kind].meaning}`)
    .join("\n\n"),
  headers: responseHeaders(["RequestId", ...(HEADERS[status] ?? [])]),
  content: { "application/problem+json": { schema: PROBLEM } },
});

/** Refusals by status, as references; the components they lead to are added to `shared`. */
export const refusalsOf = (kinds: ProblemKind[], shared: Record<string, Response>): Record<string, Reference> => {
  const byStatus = Map.groupBy(kinds, (kind) => PROBLEMS[kind][0]);
  return Object.fromEntries(
    [...byStatus].map(([status, sharing]) => {
      const name = sharing.map(capital).join("Or");
      shared[name] ??= problemResponse(status, sharing);
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
};

const SUCCESS = { 200: "Done", 201: "Made", 204: "Done; there is nothing to say" } as const;

const contentOf = (operation: Operation, answer: JsonSchema | undefined): Record<string, Media> | undefined => {
  const texts = (operation.text?.types ?? []).map((type) => [type, { schema: { type: "string" } }]);
  if (operation.text?.alone) return Object.fromEntries(texts);
  return answer && Object.fromEntries([["application/json", { schema: answer }], ...texts]);
};

/** Every answer that is not a refusal. */
export const successesOf = (
  route: Route,
  operation: Operation,
  answer: JsonSchema | undefined,
  isPaged: boolean,
): Record<string, Response> => {
  const { method, status, verb } = route;
  const headers = responseHeaders([
    ...["RequestId", "RateLimitPolicy", "ServerTiming"],
    ...(operation.versioned && status !== 204 ? ["ETag"] : []),
    ...(status === 201 ? ["Location"] : []),
    ...(isPaged ? ["Link"] : []),
    ...(verb.access.role ? ["Bookmark"] : []),
  ]);
  const content = status === 204 ? undefined : contentOf(operation, answer);
  const entries: [string, Response][] = [[String(status), { description: SUCCESS[status], headers, content }]];
  if (operation.versioned && method === "GET") {
    entries.push(["304", { description: "Not changed since", headers: responseHeaders(["RequestId", "ETag"]) }]);
  }
  for (const [other, description] of Object.entries(operation.also ?? {})) {
    const partial = other === "206" ? { "text/plain": { schema: { type: "string" } } } : undefined;
    entries.push([other, { description, headers: responseHeaders(["RequestId"]), content: partial }]);
  }
  return Object.fromEntries(entries);
};
