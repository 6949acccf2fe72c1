import { HTTPException } from "hono/http-exception";
import { PROBLEMS, type Problem, type ProblemKind } from "../protocol/problem.ts";
import { Refusal, tokenInvalid } from "../services/core/refusal.ts";

const UNAVAILABLE_RETRY_SECONDS = 5;
const BEHIND_RETRY_SECONDS = 30;

/** Maps whatever was thrown to one of the closed set of problems; what nobody foresaw is told to the log alone. */
export const refusalOf = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error;
  if (error instanceof Error && error.name === "TokenInvalid") return tokenInvalid();
  if (error instanceof HTTPException && error.status === 400) {
    return new Refusal("malformed-body", "The body is not JSON.");
  }
  if (isBehind(error)) {
    return new Refusal("unavailable", "The database awaits its migrations. Nothing is half-done: repeat the request.", {
      retryAfterSeconds: BEHIND_RETRY_SECONDS,
      cause: error,
    });
  }
  return isAway(error)
    ? new Refusal("unavailable", "A part of the service is away just now. Nothing is half-done: repeat the request.", {
        retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS,
        cause: error,
      })
    : new Refusal("internal", "Something went wrong on our side. The request id leads us to it.", { cause: error });
};

/** Whether the code is newer than the database's tables. */
const isBehind = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === "MigrationsMissing" ||
    /no such table|no such column|has no column named/.test(error.message) ||
    isBehind(error.cause));

/** Whether a database or an object did not answer, as against a mistake of ours. */
const isAway = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const signs = ["overloaded", "retryable", "remote", "durableObjectReset"];
  const isSigned = signs.some((sign) => (error as unknown as Record<string, unknown>)[sign] === true);
  return isSigned || error.message.includes("D1_ERROR") || isAway(error.cause);
};

export const problemOf = (refusal: Refusal, requestId: string): Problem => {
  const [status, title] = PROBLEMS[refusal.kind];
  const { errors, existingId, expectedOffset } = refusal.extras;
  return {
    type: typeOf(refusal.kind),
    title,
    status,
    detail: refusal.message,
    requestId,
    errors,
    existingId,
    expectedOffset,
  };
};

/** A stable URI reference: the page behind it says what to do. */
export const typeOf = (kind: ProblemKind): string => `/problems/${kind}`;

export const problemResponse = (refusal: Refusal, requestId: string): Response => {
  const problem = problemOf(refusal, requestId);
  const headers = new Headers({ "Content-Type": "application/problem+json", "Cache-Control": "no-store" });
  if (problem.status === 401) headers.set("WWW-Authenticate", 'Bearer realm="millrace"');
  const { retryAfterSeconds } = refusal.extras;
  if (retryAfterSeconds !== undefined) headers.set("Retry-After", String(retryAfterSeconds));
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
};

/** For our own log: names and stacks, where a message could quote what was sent. */
export const describe = (refusal: Refusal): string => {
  const cause = refusal.extras.cause;
  return cause instanceof Error ? `${refusal.message} ${cause.name}: ${cause.stack ?? ""}` : refusal.message;
};
