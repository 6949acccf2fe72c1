import type { Context as HonoContext } from "hono";
import { HTTPException } from "hono/http-exception";
import { log } from "../log.ts";
import { PROBLEMS, type Problem, type ProblemKind } from "../protocol/problem.ts";
import type { Context } from "../services/core/context.ts";
import { outageRefusal } from "../services/core/outage.ts";
import { Refusal } from "../services/core/refusal.ts";
import type { AppEnv } from "./app-env.ts";

/** Maps every error to one of the closed set of problems. Only the log describes an unforeseen error. */
export const toRefusal = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error;
  if (error instanceof HTTPException && error.status === 400) {
    return new Refusal("malformed-body", "The body is not JSON.");
  }
  return outageRefusal(error) ?? internal(error);
};

const internal = (cause: unknown): Refusal =>
  new Refusal("internal", "The service failed unexpectedly. Find the log line by the request id.", {
    cause,
  });

const toProblem = (refusal: Refusal, requestId: string): Problem => {
  const [status, title] = PROBLEMS[refusal.kind];
  const { errors, existingId, expectedOffset } = refusal.extras;
  return {
    type: problemPage(refusal.kind),
    title,
    status,
    detail: refusal.message,
    requestId,
    errors,
    existingId,
    expectedOffset,
  };
};

/** Returns a stable URI reference to the page that explains the problem. */
const problemPage = (kind: ProblemKind): string => `/problems/${kind}`;

export const problemResponse = (refusal: Refusal, requestId: string): Response => {
  const problem = toProblem(refusal, requestId);
  const headers = new Headers({ "Content-Type": "application/problem+json", "Cache-Control": "no-store" });
  if (problem.status === 401) headers.set("WWW-Authenticate", 'Bearer realm="millrace"');
  const { retryAfterSeconds } = refusal.extras;
  if (retryAfterSeconds !== undefined) headers.set("Retry-After", String(retryAfterSeconds));
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
};

/** Logs an internal failure with its cause. The answer contains neither, because they could quote the request. */
export const logFailure = (c: HonoContext<AppEnv>, { kind, message, extras: { cause } }: Refusal): void => {
  if (PROBLEMS[kind][0] < 500) return;
  const context: Context | undefined = c.get("context");
  const error = cause instanceof Error ? `${message} ${cause.name}: ${cause.stack ?? ""}` : message;
  log.error("request.failed", { orgId: context?.orgId ?? null, requestId: c.get("requestId"), error });
};
