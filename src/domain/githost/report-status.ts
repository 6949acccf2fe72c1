import { type HostReport, isOver, isTerminal } from "./host-report.ts";
import type { StatusRules } from "./status-rules.ts";
import { type Commit, type Line, linesOf, REPOSITORY_CONTEXT, type Wanted } from "./statuses.ts";

/** Contexts of one commit: as many as pipelines of one repository that a person could tell apart. */
const MOST_CONTEXTS = 500;
/** Characters that every host takes. */
const DESCRIPTION_CHARACTERS = 140;

/** The commit with the report; the same one where the report is no news. */
export const reported = (
  commit: Commit | undefined,
  report: HostReport,
  now: number,
  rules: StatusRules,
): Commit | undefined => {
  const { repoId, fullName, sha, ref, context } = report;
  const before = commit?.own.find((line) => line.context === context);
  const wanted = wantedOf(report);
  if (context === REPOSITORY_CONTEXT || (before && !rules.isNews(before.wanted, wanted))) return commit;
  if (!before && (commit?.own.length ?? 0) >= MOST_CONTEXTS) return commit;
  const line = renewed(before, context, wanted, now);
  const own = before ? commit!.own.map((other) => (other === before ? line : other)) : [...(commit?.own ?? []), line];
  const overall = overallOf(commit?.overall, own, now, rules);
  return { repoId, fullName: commit?.fullName ?? fullName, sha, ref, own, overall, endedAt: null };
};

const wantedOf = (report: HostReport): Wanted => ({
  ...{
    buildId: report.buildId,
    number: report.number,
    version: report.version,
    origin: report.origin,
  },
  ...{ state: report.state, phase: report.phase, ended: report.ended, asks: report.asks },
  description: report.description.slice(0, DESCRIPTION_CHARACTERS).toWellFormed(),
});

/** The line of a new state: nothing was tried yet. */
const renewed = (before: Line | undefined, context: string, wanted: Wanted, now: number): Line => {
  const { told = null, unsureUntil = 0, pipelineId = null, mayLink = true, checkRun = null } = before ?? {};
  const untried = { tries: 0, triedFrom: null, nextAt: 0, givenUp: null, againAt: null };
  return { context, wanted, since: now, told, ...untried, unsureUntil, pipelineId, mayLink, checkRun };
};

/** The line of the repository. It links to the build that decides. */
const overallOf = (before: Line | undefined, own: Line[], now: number, rules: StatusRules): Line => {
  const state = rules.overall(own);
  const deciding = own.find((line) => (state === "failure" ? isFailed(line) : line.wanted.state === state)) ?? own[0]!;
  const { buildId, number, version, origin } = deciding.wanted;
  const isSkipped = own.every((line) => line.wanted.ended === "skipped");
  const ended = isSkipped ? ("skipped" as const) : undefined;
  const wanted = { buildId, number, version, state, ended, origin, description: wordsOf(state, own) };
  return before?.wanted.state === state ? before : renewed(before, REPOSITORY_CONTEXT, wanted, now);
};

const isFailed = ({ wanted }: Line): boolean => isTerminal(wanted.state) && wanted.state !== "success";

const wordsOf = (state: Wanted["state"], own: Line[]): string => {
  const counted = own.filter(({ wanted }) => wanted.ended !== "skipped").length;
  const builds = counted === 1 ? "1 build" : `${counted} builds`;
  if (state === "failure") return `${own.filter(isFailed).length} of ${builds} did not succeed`;
  if (state === "pending")
    return `${own.filter(({ wanted }) => !isTerminal(wanted.state)).length} of ${builds} to come`;
  return counted === 0 ? "No build was needed" : `${builds} succeeded`;
};

/** Whether nothing is left to do for a line. */
export const isSettled = (line: Line, rules: StatusRules): boolean => rules.isTold(line) || rules.isGivenUp(line);

/** The commit with the time of its end, where everything of it has ended and is settled. */
export const closed = (commit: Commit, now: number, rules: StatusRules): Commit => {
  const isAtEnd = linesOf(commit).every((line) => isOver(line.wanted) && isSettled(line, rules));
  return isAtEnd ? { ...commit, endedAt: commit.endedAt ?? now } : commit;
};
