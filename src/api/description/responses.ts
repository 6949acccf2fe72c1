import { PROBLEMS, type ProblemKind } from "../../protocol/problem.ts";
import type { RequestHeader } from "./documentation.ts";
import type { DocumentedRoute } from "./documented-route.ts";
import { type AnswerHeader, responseHeaders, takesBookmark, takesIfMatch } from "./headers.ts";
import type { Media, Reference, Response } from "./openapi.ts";
import { REMEDIES } from "./remedies.ts";
import type { JsonSchema } from "./schemas.ts";

const PROBLEM: JsonSchema = { $ref: "#/components/schemas/Problem" };

const capital = (kind: string): string => kind.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Headers whose value the service checks: a wrong one is `invalid`. */
const CHECKED_HEADERS: RequestHeader[] = ["ContentSha256", "Grant", "HeldLease", "IdempotencyKey", "Lease"];

/** Every kind of problem that the route can answer with: those of its shape, and those of its own rules. */
export const problemsOf = (route: DocumentedRoute): ProblemKind[] => {
  const { verb } = route;
  const { headers = [], problems = [] } = route.documentation;
  const hasCheckedHeader = takesBookmark(route) || headers.some((name) => CHECKED_HEADERS.includes(name));
  const isChecked = verb.body || verb.query || hasCheckedHeader;
  return [
    ...(verb.body ? (["malformed-body"] as const) : []),
    ...(["unauthenticated", "forbidden"] as const),
    ...(verb.params ? (["not-found"] as const) : []),
    ...(takesIfMatch(route) ? (["stale-version"] as const) : []),
    ...(verb.body ? (["too-large", "unsupported-media-type"] as const) : []),
    ...(isChecked ? (["invalid"] as const) : []),
    ...problems,
    ...(["rate-limited", "internal", "unavailable", "keyring-unavailable"] as const),
  ];
};

const PROBLEM_HEADERS: Record<number, AnswerHeader[]> = {
  401: ["Authenticate"],
  429: ["RetryAfter", "RateLimitPolicy"],
  503: ["RetryAfter"],
};

/** The answer with one status, which several kinds of problem may share. */
const problemResponse = (status: number, kinds: ProblemKind[]): Response => ({
  description: kinds
    .map((kind) => `${PROBLEMS[kind][1]} ([${kind}](/problems/${kind})): ${REMEDIES[kind].meaning}`)
    .join("\n\n"),
  headers: responseHeaders(["RequestId", ...(PROBLEM_HEADERS[status] ?? [])]),
  content: { "application/problem+json": { schema: PROBLEM } },
});

/** References to the problem responses by status. The responses themselves are added to `shared`. */
export const problemResponses = (kinds: ProblemKind[], shared: Record<string, Response>): Record<string, Reference> => {
  const byStatus = Map.groupBy(kinds, (kind) => PROBLEMS[kind][0]);
  return Object.fromEntries(
    [...byStatus].map(([status, sharing]) => {
      const name = sharing.map(capital).join("Or");
      shared[name] ??= problemResponse(status, sharing);
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
};

const SUCCESS = { 200: "OK", 201: "Created", 202: "Accepted", 204: "No content" } as const;

const contentOf = (
  { documentation: { text } }: DocumentedRoute,
  answer: JsonSchema | undefined,
): Record<string, Media> | undefined => {
  const texts = (text?.types ?? []).map((type) => [type, { schema: { type: "string" } }]);
  if (text?.alone) return Object.fromEntries(texts);
  return answer && Object.fromEntries([["application/json", { schema: answer }], ...texts]);
};

/** Every answer that is not a problem. */
export const successResponses = (
  route: DocumentedRoute,
  answer: JsonSchema | undefined,
  isPaged: boolean,
): Record<string, Response> => {
  const { method, status, verb, location } = route;
  const { versioned, also = {} } = route.documentation;
  const headers = responseHeaders([
    ...(["RequestId", "RateLimitPolicy", "ServerTiming"] as const),
    ...(versioned && status !== 204 ? (["ETag"] as const) : []),
    ...(location ? (["Location"] as const) : []),
    ...(isPaged ? (["Link"] as const) : []),
    ...(verb.access.role ? (["Bookmark"] as const) : []),
  ]);
  const content = status === 204 ? undefined : contentOf(route, answer);
  const responses: Record<string, Response> = { [status]: { description: SUCCESS[status], headers, content } };
  if (versioned && method === "GET") {
    responses[304] = { description: "Not modified", headers: responseHeaders(["RequestId", "ETag"]) };
  }
  for (const [other, description] of Object.entries(also)) {
    const partial = other === "206" ? { "text/plain": { schema: { type: "string" } } } : undefined;
    responses[other] = { description, headers: responseHeaders(["RequestId"]), content: partial };
  }
  return responses;
};
