import { SECOND_MS } from "../../protocol/units.ts";
import { type HostAnswer, type HostResponse, isLimited } from "./host-fetch.ts";
import { withEndTime } from "./report-status.ts";
import type { StatusRules } from "./status-rules.ts";
import { type Commit, type Line, linesOf, type Pace, type SentStatus, type Statuses } from "./statuses.ts";

/** Reads an answer by the rules that all hosts share. `now` is in milliseconds since 1970. */
export const readStatusOutcome = (answer: HostAnswer, now: number): StatusOutcome => {
  if ("unreachable" in answer) {
    return { kind: "away", isUnsure: true, reason: `The git host cannot be reached: ${answer.unreachable}.` };
  }
  const { status } = answer;
  if (status >= 200 && status < 300) return accepted(answer);
  if (status === 401) return { kind: "unauthorized", reason: "The git host does not accept the token." };
  if (isLimited(answer)) {
    return {
      kind: "limited",
      until: readPause(answer, now),
      reason: "The git host limits the rate of requests.",
    };
  }
  if (status === 403) return { kind: "forbidden", reason: "The token cannot set statuses in this repository." };
  if (status === 408 || status === 409 || status === 423 || status === 425) {
    return { kind: "busy", reason: `The git host is busy with this commit (${status}).` };
  }
  if (status >= 500) {
    return {
      kind: "away",
      isUnsure: status > 500,
      reason: `The git host has an internal error (${status}).`,
    };
  }
  return { kind: "refused", reason: refusals[status] ?? `The git host rejected the status (${status}).` };
};

const refusals: Record<number, string> = {
  404: "The git host does not have the repository or the commit, or hides it from the token (404).",
  410: "The git host no longer has the repository (410).",
  422: "The git host does not accept the status: the commit does not exist, or has too many statuses (422).",
};

/**
 * Returns the outcome of an accepted status. A proxy in front of the host may answer with a page for people and status
 * 200. The host then received nothing.
 */
const accepted = (answer: HostResponse): StatusOutcome => {
  const body = readFields(answer);
  if (body === null) {
    return { kind: "away", isUnsure: false, reason: "The server at this address is not the git host's API." };
  }
  const pipeline = body.pipeline_id;
  return { kind: "told", pipelineId: Number.isSafeInteger(pipeline) ? (pipeline as number) : null };
};

/** Returns the fields of an answer that is a JSON object; null for any other answer. */
export const readFields = ({ body }: HostResponse): Record<string, unknown> | null => {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
};

/**
 * Reads until when to pause. `Retry-After` has seconds or a date (RFC 9110, 10.2.3). GitHub's reset is a time in
 * seconds.
 */
const readPause = ({ headers }: HostResponse, now: number): number | null => {
  const after = headers.get("Retry-After");
  if (after !== null) {
    const at = /^\d{1,9}$/.test(after) ? now + Number(after) * SECOND_MS : Date.parse(after);
    if (Number.isFinite(at)) return at;
  }
  const reset = headers.get("X-RateLimit-Reset") ?? headers.get("RateLimit-Reset");
  return reset !== null && /^\d{9,11}$/.test(reset) ? Number(reset) * SECOND_MS : null;
};

/** The result of a sent status. `reason` is in words for people. */
export type StatusOutcome =
  /**
   * The host accepted the status. GitLab names the pipeline that contains the state, and GitHub the check run that
   * shows it.
   */
  | { kind: "told"; pipelineId: number | null; checkRunId?: number }
  /** The host does not accept the token. */
  | { kind: "unauthorized"; reason: string }
  /** The host accepts the token, but not for this request. */
  | { kind: "forbidden"; reason: string }
  /**
   * The host limits our requests. `until` is the end of the limit in milliseconds since 1970, if the host reports it.
   */
  | { kind: "limited"; until: number | null; reason: string }
  /** The host is busy with this commit, or has it under another name. */
  | { kind: "busy"; reason: string }
  /** The host has a problem. If it gave no answer, it may still process the request. */
  | { kind: "away"; isUnsure: boolean; reason: string }
  /** The host does not accept the link. */
  | { kind: "unlinked"; reason: string }
  /** The host rejected the request, and would also reject the next try. */
  | { kind: "refused"; reason: string };

/** The effects of an answer: the commit, or nothing if it no longer exists, and the pace. */
interface AnswerEffects {
  commit: Commit | null;
  pace: Pace;
}

/** Processes the answer to a sent status. */
export const takeAnswer = (
  statuses: Statuses,
  sentStatus: SentStatus,
  outcome: StatusOutcome,
  now: number,
  rules: StatusRules,
): AnswerEffects => {
  const pace = nextPace(statuses.pace, outcome, now, rules);
  const commit = statuses.commits.get(sentStatus.commit);
  const line = commit && linesOf(commit).find(({ context }) => context === sentStatus.context);
  if (!commit || !line) return { commit: null, pace };
  const next =
    outcome.kind === "told"
      ? lineOnceTold(line, sentStatus, outcome, now, rules)
      : lineAfterFailure(line, sentStatus, outcome, now, rules);
  return { commit: withEndTime(withLine(commit, next), now, rules), pace };
};

/** Returns the commit with a line. A GitLab pipeline belongs to all contexts of the commit on its ref. */
const withLine = (commit: Commit, line: Line): Commit => {
  const { pipelineId } = line;
  const shared = (other: Line): Line => {
    if (other.context === line.context) return line;
    return pipelineId !== null && other.pipelineId === null ? { ...other, pipelineId } : other;
  };
  return { ...commit, own: commit.own.map(shared), overall: shared(commit.overall) };
};

const lineOnceTold = (
  line: Line,
  sentStatus: SentStatus,
  { pipelineId, checkRunId }: Extract<StatusOutcome, { kind: "told" }>,
  now: number,
  rules: StatusRules,
): Line => {
  const next = { ...line, told: rules.taken(line, sentStatus), pipelineId: pipelineId ?? line.pipelineId };
  if (checkRunId !== undefined) next.checkRun = { id: checkRunId, buildId: sentStatus.buildId };
  const isSure = now >= line.unsureUntil;
  const untried = rules.isAnswered(line, sentStatus) ? { tries: 0, triedFrom: null, nextAt: 0 } : {};
  return {
    ...next,
    ...untried,
    unsureUntil: isSure ? 0 : line.unsureUntil,
    againAt: isSure ? null : line.unsureUntil,
  };
};

/**
 * Returns the line after a failed try. If a newer state was reported in the meantime, that state has not been tried.
 */
const lineAfterFailure = (
  line: Line,
  sentStatus: SentStatus,
  outcome: StatusOutcome,
  now: number,
  rules: StatusRules,
): Line => {
  const unsure = outcome.kind === "away" && outcome.isUnsure ? { unsureUntil: rules.unsureUntil(now) } : {};
  if (!rules.isAnswered(line, sentStatus)) return { ...line, ...unsure };
  const tried = { ...line, ...unsure, tries: line.tries + 1, triedFrom: line.triedFrom ?? now };
  const reason = "reason" in outcome ? outcome.reason : "";
  if (outcome.kind === "refused") return { ...tried, givenUp: { reason, at: now } };
  if (rules.isHopeless(tried, now)) return { ...tried, givenUp: { reason: `Retried for a day: ${reason}`, at: now } };
  if (outcome.kind === "unlinked") return { ...tried, mayLink: false };
  return { ...tried, nextAt: now + chooseWait(outcome, tried.tries, rules) };
};

const chooseWait = ({ kind }: StatusOutcome, tries: number, rules: StatusRules): number => {
  if (kind === "unauthorized" || kind === "limited") return 0;
  return kind === "forbidden" ? rules.forbiddenWait(tries) : rules.lineWait(tries);
};

/** Returns the pace after an answer. An answer about the status alone shows that the host works. */
const nextPace = (pace: Pace, outcome: StatusOutcome, now: number, rules: StatusRules): Pace => {
  const failures = pace.failures + 1;
  const until = (quietUntil: number, trouble: string): Pace => ({ ...pace, failures, quietUntil, trouble });
  switch (outcome.kind) {
    case "unauthorized":
      return until(now + rules.tokenWait(failures), outcome.reason);
    case "forbidden":
      return until(now + rules.forbiddenWait(failures), outcome.reason);
    case "limited":
      return until(rules.pauseUntil(now, outcome.until, failures), outcome.reason);
    case "away":
      return until(now + rules.hostWait(failures), outcome.reason);
    default:
      return { ...pace, failures: 0, quietUntil: 0, trouble: null };
  }
};
