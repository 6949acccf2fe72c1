import { BOOKMARK_HEADER } from "../../protocol/headers.ts";
import { BOOT_HEADER, LEASE_HEADER } from "../../protocol/jobs.ts";
import type { Route } from "../routes.ts";
import type { Parameter, Reference } from "./openapi.ts";
import type { Operation } from "./operations.ts";

const text = (description: string) => ({ description, schema: { type: "string" } });

const sent = (name: string, description: string, more: Partial<Parameter> = {}): Parameter => ({
  ...{ name, in: "header", description, schema: { type: "string" } },
  ...more,
});

/** Headers a request may carry, as components. */
export const REQUEST_HEADERS: Record<string, Parameter> = {
  Bookmark: sent(BOOKMARK_HEADER, "What an earlier answer carried: a read then sees at least what that one saw."),
  BootId: sent(BOOT_HEADER, "A random id the agent program makes at its start: another one means it was restarted."),
  IdempotencyKey: sent(
    "Idempotency-Key",
    "The same caller, key and request within 24 hours mean the same build, however often it is sent.",
    { schema: { type: "string", pattern: "^[!-~]{1,200}$" } },
  ),
  IfMatch: sent("If-Match", "The ETag you read: refused with 412 when the record has changed since."),
  IfNoneMatch: sent("If-None-Match", "The ETag you have: answered with 304 while it is the newest."),
  LastEventId: sent("Last-Event-ID", "Of a stream of events: the id of the last event that arrived.", {
    schema: { type: "string", pattern: "^(?:\\d{1,9}:)?\\d{1,15}$" },
  }),
  Lease: sent(LEASE_HEADER, "The lease the agent holds on the build.", {
    ...{ required: true, schema: { type: "integer", minimum: 0 } },
  }),
  HeldLease: sent(LEASE_HEADER, "The lease to extend, while the agent builds.", {
    schema: { type: "integer", minimum: 0 },
  }),
  Range: sent("Range", "One range of bytes, as `bytes=0-499` or `bytes=-500`."),
};

/** Headers an answer may carry, as components. */
export const RESPONSE_HEADERS: Record<string, object> = {
  RequestId: text("Names the request: in the service's log, the audit and every problem."),
  RateLimitPolicy: text('Requests a minute the token may send: `"token";q=600;w=60`.'),
  RetryAfter: { description: "Seconds to wait before the same request again.", schema: { type: "integer" } },
  ETag: text("The record's version: for If-Match and If-None-Match."),
  Location: text("Path of what was made."),
  Link: text('The whole address of the next page: `<...>; rel="next"`. Absent on the last one.'),
  Bookmark: text(`For \`${BOOKMARK_HEADER}\` of a later read that must see this write.`),
  Authenticate: text("Which scheme is expected."),
  ServerTiming: text("Milliseconds the request took; round trips to the database, rows read and written."),
};

const NAMES: Record<string, string> = {
  ...{ RequestId: "X-Request-Id", RateLimitPolicy: "RateLimit-Policy", RetryAfter: "Retry-After", ETag: "ETag" },
  ...{ Location: "Location", Link: "Link", Bookmark: BOOKMARK_HEADER, Authenticate: "WWW-Authenticate" },
  ...{ ServerTiming: "Server-Timing" },
};

export const responseHeaders = (components: string[]): Record<string, Reference> =>
  Object.fromEntries(components.map((name) => [NAMES[name], { $ref: `#/components/headers/${name}` }]));

/** Whether the route changes a record that has versions. */
export const takesIfMatch = ({ method, status }: Route, { versioned }: Operation): boolean =>
  versioned === true && method !== "GET" && status !== 201;

/** The headers that this route looks at. */
export const requestHeaders = (route: Route, operation: Operation): Reference[] => {
  const { method, verb } = route;
  const isRead = method === "GET";
  const names = [
    ...(isRead && verb.access.role ? ["Bookmark"] : []),
    ...(operation.versioned && isRead ? ["IfNoneMatch"] : []),
    ...(takesIfMatch(route, operation) ? ["IfMatch"] : []),
    ...(operation.idempotent ? ["IdempotencyKey"] : []),
    ...(operation.leased ? ["Lease"] : []),
    ...(operation.id === "heartbeat" ? ["HeldLease"] : []),
    ...(operation.id === "heartbeat" || operation.id === "pollForJob" ? ["BootId"] : []),
    ...(operation.id === "readLog" ? ["Range", "LastEventId"] : []),
  ];
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
};
