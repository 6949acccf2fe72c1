import { CONTENT_SHA256_HEADER, GRANT_HEADER } from "../../protocol/artifact.ts";
import { BOOKMARK_HEADER } from "../../protocol/headers.ts";
import { BOOT_HEADER, FEATURES_HEADER, LEASE_HEADER } from "../../protocol/jobs.ts";
import { PROBLEMS, type ProblemKind } from "../../protocol/problem.ts";
import { XCODES_HEADER } from "../../protocol/xcodes.ts";
import type { RequestHeader } from "./documentation.ts";
import type { DocumentedRoute } from "./operations.ts";
import { REMEDIES } from "./remedies.ts";
import type { JsonSchema, Media, Parameter, Reference, Response } from "./schemas.ts";

type ImpliedHeader = "Bookmark" | "IfMatch";

const parameter = (name: string, description: string, schema: JsonSchema = { type: "string" }): Parameter => ({
  name,
  in: "header",
  description,
  schema,
});

/** Request headers, as components. */
export const REQUEST_HEADERS: Record<RequestHeader | ImpliedHeader, Parameter> = {
  Bookmark: parameter(
    BOOKMARK_HEADER,
    "The bookmark of an earlier answer: the read includes every write that the earlier request saw or made.",
  ),
  BootId: parameter(
    BOOT_HEADER,
    "A random id that the agent program creates when it starts. A new id means that the program has restarted.",
  ),
  ContentSha256: {
    ...parameter(CONTENT_SHA256_HEADER, "SHA-256 of the bytes, in lower-case hexadecimal digits.", {
      type: "string",
      pattern: "^[0-9a-f]{64}$",
    }),
    required: true,
  },
  Features: parameter(
    FEATURES_HEADER,
    "The agent program's features, separated by commas. environment: requests its variables after reading the file. jobs: sends files with jobs, and runs planned jobs. retry: retries steps. include: reads included files. files: writes variables of type file. tools: sets up tools. artifacts: uploads and downloads artifacts. The service ignores unknown words.",
  ),
  Xcodes: parameter(
    XCODES_HEADER,
    "The Xcode versions on the agent's machine, separated by commas. The service ignores anything else.",
  ),
  EarlierGrant: parameter(GRANT_HEADER, "The grant of an upload in progress, to get a new grant for it."),
  Grant: { ...parameter(GRANT_HEADER, "The upload's grant."), required: true },
  IdempotencyKey: parameter(
    "Idempotency-Key",
    "Makes the request safe to repeat: for 24 hours the same caller, key and request get the same build.",
    { type: "string", pattern: "^[!-~]{1,200}$" },
  ),
  IfMatch: parameter(
    "If-Match",
    "The ETag of the version that you read. The answer is 412 if the record has changed since.",
  ),
  IfNoneMatch: parameter("If-None-Match", "The ETag that you have. The answer is 304 while it is current."),
  IfRange: parameter(
    "If-Range",
    "The ETag of the file that you have a part of. If it is not current, the answer is the whole file.",
  ),
  LastEventId: parameter("Last-Event-ID", "For a stream of events: the id of the last event that you received.", {
    type: "string",
    pattern: "^(?:\\d{1,9}:)?\\d{1,15}$",
  }),
  Lease: {
    ...parameter(LEASE_HEADER, "The lease that the agent holds on the build.", { type: "integer", minimum: 0 }),
    required: true,
  },
  HeldLease: parameter(LEASE_HEADER, "The lease to renew, while the agent runs a build.", {
    type: "integer",
    minimum: 0,
  }),
  Range: parameter("Range", "One range of bytes, such as `bytes=0-499` or `bytes=-500`."),
};

const header = (name: string, description: string, type: "string" | "integer" = "string") => ({
  name,
  component: { description, schema: { type } },
});

const ANSWER_HEADERS = {
  RequestId: header("X-Request-Id", "Id of the request, also in the service's log, the audit log and every problem."),
  RateLimitPolicy: header(
    "RateLimit-Policy",
    "Requests that the token, and all tokens or agents of its organization together, may send: `q` in `w` seconds.",
  ),
  RetryAfter: header("Retry-After", "Seconds to wait before you repeat the request.", "integer"),
  ETag: header("ETag", "Version of the record, for If-Match and If-None-Match."),
  Location: header("Location", "Path of the new record."),
  Link: header("Link", 'URL of the next page: `<...>; rel="next"`. Absent on the last page.'),
  Bookmark: header(BOOKMARK_HEADER, `Send it as \`${BOOKMARK_HEADER}\` with a later read that must see this write.`),
  Authenticate: header("WWW-Authenticate", "The authentication scheme to use."),
  ServerTiming: header(
    "Server-Timing",
    "The request's duration in milliseconds, database round trips, rows read and rows written.",
  ),
};
type AnswerHeader = keyof typeof ANSWER_HEADERS;

/** Answer headers, as components. */
export const RESPONSE_HEADERS: Record<string, object> = Object.fromEntries(
  Object.entries(ANSWER_HEADERS).map(([id, { component }]) => [id, component]),
);

const responseHeaders = (ids: AnswerHeader[]): Record<string, Reference> =>
  Object.fromEntries(ids.map((id) => [ANSWER_HEADERS[id].name, { $ref: `#/components/headers/${id}` }]));

/** Reports whether the route changes a versioned record. */
const takesIfMatch = ({ method, status, documentation }: DocumentedRoute): boolean =>
  documentation.versioned === true && method !== "GET" && status !== 201;

/** Reports whether the route reads D1 from the caller's bookmark. */
const takesBookmark = ({ method, verb }: DocumentedRoute): boolean =>
  method === "GET" && verb.access.role !== undefined;

/** Returns the headers that the route reads. */
export const headerReferences = (route: DocumentedRoute): Reference[] => {
  const { method, documentation } = route;
  const isRead = method === "GET";
  const ids: (RequestHeader | ImpliedHeader)[] = [
    ...(takesBookmark(route) ? (["Bookmark"] as const) : []),
    ...(isRead && documentation.versioned ? (["IfNoneMatch"] as const) : []),
    ...(takesIfMatch(route) ? (["IfMatch"] as const) : []),
    ...(documentation.headers ?? []),
  ];
  return ids.map((id) => ({ $ref: `#/components/parameters/${id}` }));
};

const PROBLEM: JsonSchema = { $ref: "#/components/schemas/Problem" };

const capital = (kind: string): string => kind.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Headers whose value the service checks. It rejects a wrong value as `invalid`. */
const CHECKED_HEADERS: RequestHeader[] = ["ContentSha256", "Grant", "HeldLease", "IdempotencyKey", "Lease"];

/** Returns every kind of problem in the route's answers, from its shape and from its own rules. */
export const listProblems = (route: DocumentedRoute): ProblemKind[] => {
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

/** Returns the answer with one status, which several kinds of problem may share. */
const problemResponse = (status: number, kinds: ProblemKind[]): Response => ({
  description: kinds
    .map((kind) => `${PROBLEMS[kind][1]} ([${kind}](/problems/${kind})): ${REMEDIES[kind].meaning}`)
    .join("\n\n"),
  headers: responseHeaders(["RequestId", ...(PROBLEM_HEADERS[status] ?? [])]),
  content: { "application/problem+json": { schema: PROBLEM } },
});

/** Returns references to the problem responses by status, and adds the responses themselves to `shared`. */
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

const describeContent = (
  { documentation: { text } }: DocumentedRoute,
  answer: JsonSchema | undefined,
): Record<string, Media> | undefined => {
  const texts = (text?.types ?? []).map((type) => [type, { schema: { type: "string" } }]);
  if (text?.alone) return Object.fromEntries(texts);
  return answer && Object.fromEntries([["application/json", { schema: answer }], ...texts]);
};

/** Returns every answer that is not a problem. */
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
  const content = status === 204 ? undefined : describeContent(route, answer);
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
