import { DAY_MS } from "../../protocol/units.ts";
import { type HostReport, isOver, isTerminal, type LeftOut } from "./host-report.ts";
import type { StatusRules } from "./status-rules.ts";
import { type Commit, type Line, linesOf, REPOSITORY_CONTEXT, type WantedState } from "./statuses.ts";

/** Maximum contexts of one commit: as many as one push and one tag can create. */
const MOST_CONTEXTS = 1_000;
/** The number of description characters that every host accepts. */
const DESCRIPTION_CHARACTERS = 140;

/** Returns the commit with the report. Returns the same object if the report is not new. */
export const withReport = (
  commit: Commit | undefined,
  report: HostReport,
  now: number,
  rules: StatusRules,
): Commit | undefined => {
  const { repoId, fullName, sha, ref, context } = report;
  const before = commit?.own.find((line) => line.context === context);
  const wanted = toWanted(report);
  if (context === REPOSITORY_CONTEXT || (before && !rules.isNews(before.wanted, wanted))) return commit;
  if (!before && (commit?.own.length ?? 0) >= MOST_CONTEXTS)
    return withLeftOut(commit, { ...report, contexts: [context] }, now, rules);
  const line = newLine(before, context, wanted, now);
  const own = before ? commit!.own.map((other) => (other === before ? line : other)) : [...(commit?.own ?? []), line];
  const leftOut = commit?.leftOut?.filter((other) => other !== context) ?? [];
  const overall = judgeOverall(commit?.overall, { own, leftOut, origin: report.origin }, now, rules);
  const name = { repoId, fullName: commit?.fullName ?? fullName, sha, ref };
  return { ...name, own, overall, ...(leftOut.length > 0 && { leftOut }), endedAt: null };
};

/** Returns the commit with the left-out pipelines. Returns the same object if it already has them. */
export const withLeftOut = (
  commit: Commit | undefined,
  { repoId, fullName, sha, ref, origin, contexts }: LeftOut,
  now: number,
  rules: StatusRules,
): Commit | undefined => {
  const { own = [], leftOut: known = [] } = commit ?? {};
  const added = contexts.filter((name) => !known.includes(name) && !own.some(({ context }) => context === name));
  const leftOut = [...known, ...added].slice(0, MOST_CONTEXTS);
  if (leftOut.length === known.length) return commit;
  const overall = judgeOverall(commit?.overall, { own, leftOut, origin }, now, rules);
  return { repoId, fullName: commit?.fullName ?? fullName, sha, ref, own, overall, leftOut, endedAt: null };
};

const toWanted = (report: HostReport): WantedState => ({
  buildId: report.buildId,
  number: report.number,
  version: report.version,
  origin: report.origin,
  state: report.state,
  phase: report.phase,
  ended: report.ended,
  asks: report.asks,
  description: report.description.slice(0, DESCRIPTION_CHARACTERS).toWellFormed(),
});

/** Returns the line of a new state, without any tries. */
const newLine = (before: Line | undefined, context: string, wanted: WantedState, now: number): Line => {
  const { told = null, unsureUntil = 0, pipelineId = null, mayLink = true, checkRun = null } = before ?? {};
  const untried = { tries: 0, triedFrom: null, nextAt: 0, givenUp: null, againAt: null };
  return { context, wanted, since: now, told, ...untried, unsureUntil, pipelineId, mayLink, checkRun };
};

/** Stands in for a missing deciding build. */
const NO_BUILD = { buildId: "", number: 0, version: 0 };

/**
 * Returns the repository's line. It links to the build that decides. The line cannot succeed while a pipeline was left
 * out.
 */
const judgeOverall = (
  before: Line | undefined,
  { own, leftOut, origin: reached }: { own: Line[]; leftOut: string[]; origin: string | null },
  now: number,
  rules: StatusRules,
): Line => {
  const ownState = rules.overall(own);
  const state = ownState !== "failure" && leftOut.length > 0 ? "error" : ownState;
  const deciding = own.find((line) => (state === "failure" ? isFailed(line) : line.wanted.state === state)) ?? own[0];
  const { buildId, number, version, origin } = deciding?.wanted ?? { ...NO_BUILD, origin: reached };
  const isSkipped = leftOut.length === 0 && own.every((line) => line.wanted.ended === "skipped");
  const ended = isSkipped ? ("skipped" as const) : undefined;
  const wanted = {
    buildId,
    number,
    version,
    state,
    ended,
    origin,
    description: describeOverall(state, own, leftOut.length),
  };
  return before?.wanted.state === state ? before : newLine(before, REPOSITORY_CONTEXT, wanted, now);
};

const isFailed = ({ wanted }: Line): boolean => isTerminal(wanted.state) && wanted.state !== "success";

const describeOverall = (state: WantedState["state"], own: Line[], leftOut: number): string => {
  if (state === "error") return `${leftOut === 1 ? "1 pipeline" : `${leftOut} pipelines`} left out that may match`;
  const counted = own.filter(({ wanted }) => wanted.ended !== "skipped").length;
  const builds = counted === 1 ? "1 build" : `${counted} builds`;
  if (state === "failure") return `${own.filter(isFailed).length} of ${builds} did not succeed`;
  if (state === "pending")
    return `${own.filter(({ wanted }) => !isTerminal(wanted.state)).length} of ${builds} not finished`;
  return counted === 0 ? "No build was needed" : `${builds} succeeded`;
};

/** Reports whether nothing is left to do for a line. */
export const isSettled = (line: Line, rules: StatusRules): boolean => rules.isTold(line) || rules.isGivenUp(line);

/**
 * Milliseconds after which the service no longer reports a build that the host does not know yet. After DROP_MS it
 * reports no state at all.
 */
const COLLAPSE_MS = DAY_MS;
const DROP_MS = 3 * DAY_MS;

const COLLAPSED = "It waited for a day: the service reports the state of the whole commit instead.";
const DROPPED = "It waited for three days.";

/** Removes lines that have waited too long. Returns the same commit if no line has. */
export const withoutOld = (commit: Commit, now: number, rules: StatusRules): Commit => {
  const whyNot = (line: Line): string | null => {
    if (isSettled(line, rules) || line.since > now - COLLAPSE_MS) return null;
    if (line.since <= now - DROP_MS) return DROPPED;
    return line !== commit.overall && line.told === null && isOver(line.wanted) ? COLLAPSED : null;
  };
  const withEnd = (line: Line): Line => {
    const reason = whyNot(line);
    return reason === null ? line : { ...line, givenUp: { reason, at: now } };
  };
  if (!linesOf(commit).some((line) => whyNot(line) !== null)) return commit;
  return withEndTime({ ...commit, own: commit.own.map(withEnd), overall: withEnd(commit.overall) }, now, rules);
};

/** Sets the commit aside. The service reports nothing more about it until there is a new state. */
export const setAside = (commit: Commit, now: number, rules: StatusRules): Commit => {
  const givenUp = { reason: "Too many states are waiting.", at: now };
  const aside = (line: Line): Line => (isSettled(line, rules) ? line : { ...line, givenUp });
  return { ...commit, own: commit.own.map(aside), overall: aside(commit.overall), endedAt: now };
};

/** Adds the end time to the commit if all its builds have ended and all lines are settled. */
export const withEndTime = (commit: Commit, now: number, rules: StatusRules): Commit => {
  const isAtEnd = linesOf(commit).every((line) => isOver(line.wanted) && isSettled(line, rules));
  return isAtEnd ? { ...commit, endedAt: commit.endedAt ?? now } : commit;
};
