import { approvalName } from "../core/check-requests.ts";
import type { StatusHost } from "../core/git-host.ts";
import { encodePath } from "../core/host-api.ts";
import type { HostRequest, HostResponse } from "../core/host-fetch.ts";
import type { Status } from "../core/status.ts";
import { readFields, readStatusOutcome } from "../core/status-answers.ts";
import { githubHeaders } from "./client.ts";

/** Creates a commit status: https://docs.github.com/en/rest/commits/statuses#create-a-commit-status */
const statusRequest = (status: Status, token: string): HostRequest => {
  const { fullName, sha, state, url, description, context } = status;
  return {
    method: "POST",
    path: `/repos/${encodePath(fullName)}/statuses/${encodeURIComponent(sha)}`,
    headers: githubHeaders(token),
    body: { state, ...(url !== null && { target_url: url }), description, context },
  };
};

/** Commit statuses, for connections with a token. */
export const GITHUB_STATUSES: StatusHost = {
  request: statusRequest,
  outcome: readStatusOutcome,
  repository: (repoId, token) => ({ method: "GET", path: `/repositories/${repoId}`, headers: githubHeaders(token) }),
};

/* GitHub's own limits, in characters. */
const SUMMARY_CHARACTERS = 65_535;
const LABEL_CHARACTERS = 20;
const DESCRIPTION_CHARACTERS = 40;
const MOST_ACTIONS = 3;

const cut = (text: string, most: number): string => text.slice(0, most).toWellFormed();

/**
 * Returns the conclusion of a check run; null while the build continues. An end without a verdict on the commit is a
 * failure, because a neutral conclusion would let the commit pass.
 */
const toConclusion = ({ state, phase, ended, asks, isOverall }: Status): string | null => {
  if (asks || phase === "asking") return "action_required";
  if (state === "pending") return null;
  if (ended === "skipped") return isOverall ? "neutral" : "skipped";
  if (state === "success") return "success";
  if (ended === "canceled") return "cancelled";
  return ended === "timed-out" ? "timed_out" : "failure";
};

/**
 * Returns the buttons of a check run. GitHub shows buttons only on a completed run, and only to people with write
 * access.
 */
const toActions = ({ asks = [] }: Status) =>
  asks.slice(0, MOST_ACTIONS).map(({ index, name }) => ({
    label: asks.length === 1 ? "Approve" : cut(`Approve ${name}`, LABEL_CHARACTERS),
    description: cut(`Let ${name} run`, DESCRIPTION_CHARACTERS),
    identifier: approvalName(index),
  }));

const toProgress = (status: Status): object => {
  const conclusion = toConclusion(status);
  if (conclusion !== null) return { status: "completed", conclusion, actions: toActions(status) };
  if (status.phase === "queued") return { status: "queued" };
  return { status: "in_progress", started_at: new Date(status.since).toISOString() };
};

/**
 * Creates a check run once for each build, and then updates it by its id: https://docs.github.com/en/rest/checks/runs
 */
const checkRunRequest = (status: Status, token: string): HostRequest => {
  const { fullName, sha, context, externalId, checkRunId, url, description, summary } = status;
  const runs = `/repos/${encodePath(fullName)}/check-runs`;
  const body = {
    ...(url !== null && { details_url: url }),
    ...toProgress(status),
    output: { title: description, summary: cut(summary ?? description, SUMMARY_CHARACTERS) },
  };
  const headers = githubHeaders(token);
  if (checkRunId !== null) return { method: "PATCH", path: `${runs}/${checkRunId}`, headers, body };
  return {
    method: "POST",
    path: runs,
    headers,
    body: { name: context, head_sha: sha, external_id: externalId, ...body },
  };
};

const readId = (run: unknown): number | null => {
  const id = typeof run === "object" && run !== null && "id" in run ? run.id : null;
  return Number.isSafeInteger(id) ? (id as number) : null;
};

/** Finds the build's runs at the host, which shows the newest one. */
const find: StatusHost["find"] = {
  request: ({ fullName, sha, context }, token) => ({
    method: "GET",
    path: `/repos/${encodePath(fullName)}/commits/${sha}/check-runs?check_name=${encodeURIComponent(context)}&filter=all&per_page=100`,
    headers: githubHeaders(token),
  }),
  newest(answer: HostResponse, { externalId }) {
    const { check_runs: runs } = readFields(answer) ?? {};
    const own = (Array.isArray(runs) ? runs : []).filter((run) => run?.external_id === externalId);
    return own.map(readId).reduce((best, id) => (id !== null && (best === null || id > best) ? id : best), null);
  },
};

/** Check runs of a GitHub App, instead of commit statuses. */
export const GITHUB_CHECK_RUNS: StatusHost = {
  request: checkRunRequest,
  find,
  outcome(answer, now) {
    const outcome = readStatusOutcome(answer, now);
    if (outcome.kind !== "told" || "unreachable" in answer) return outcome;
    const id = readId(readFields(answer));
    return id === null
      ? { kind: "away", isUnsure: true, reason: "The server at this address is not the git host's API." }
      : { ...outcome, checkRunId: id };
  },
  repository: GITHUB_STATUSES.repository,
};
