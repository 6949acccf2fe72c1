import type { HostAnswer } from "./host-fetch.ts";
import { type HostResponse, isLimited } from "./rate-limit.ts";
import type { StatusOutcome } from "./status-answers.ts";

const SECOND = 1_000;

/** What the hosts have in common. `now` is in milliseconds since 1970. */
export const statusOutcomeOf = (answer: HostAnswer, now: number): StatusOutcome => {
  if ("unreachable" in answer) {
    return { kind: "away", isUnsure: true, reason: `The git host cannot be reached: ${answer.unreachable}.` };
  }
  const { status } = answer;
  if (status >= 200 && status < 300) return accepted(answer);
  if (status === 401) return { kind: "unauthorized", reason: "The git host does not accept the token." };
  if (isLimited(answer)) {
    return { kind: "limited", until: pauseOf(answer, now), reason: "The git host takes no more requests for a while." };
  }
  if (status === 403) return { kind: "forbidden", reason: "The token may not set statuses here." };
  if (status === 408 || status === 409 || status === 423 || status === 425) {
    return { kind: "busy", reason: `The git host is busy with this commit (${status}).` };
  }
  if (status >= 500) {
    return {
      kind: "away",
      isUnsure: status > 500,
      reason: `The git host answered with an error of its own (${status}).`,
    };
  }
  return { kind: "refused", reason: refusals[status] ?? `The git host refused the status (${status}).` };
};

const refusals: Record<number, string> = {
  404: "The git host does not find the repository or the commit, or hides it from the token (404).",
  410: "The git host has the repository no more (410).",
  422: "The git host does not take the status: the commit is not there, or has too many statuses (422).",
};

/** A page for people may come with status 200, from whatever stands before the host: that told nobody anything. */
const accepted = (answer: HostResponse): StatusOutcome => {
  const body = fieldsOf(answer);
  if (body === null) {
    return { kind: "away", isUnsure: false, reason: "What answers in place of the git host is not its API." };
  }
  const pipeline = body.pipeline_id;
  return { kind: "told", pipelineId: Number.isSafeInteger(pipeline) ? (pipeline as number) : null };
};

/** The fields of an answer that is a JSON object; null for any other. */
export const fieldsOf = ({ body }: HostResponse): Record<string, unknown> | null => {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
};

/** `Retry-After` has seconds or a date (RFC 9110, 10.2.3); GitHub's reset is a time in seconds. */
const pauseOf = ({ headers }: HostResponse, now: number): number | null => {
  const after = headers.get("Retry-After");
  if (after !== null) {
    const at = /^\d{1,9}$/.test(after) ? now + Number(after) * SECOND : Date.parse(after);
    if (Number.isFinite(at)) return at;
  }
  const reset = headers.get("X-RateLimit-Reset") ?? headers.get("RateLimit-Reset");
  return reset !== null && /^\d{9,11}$/.test(reset) ? Number(reset) * SECOND : null;
};
