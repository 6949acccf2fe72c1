import type { HostRequest } from "../core/host-fetch.ts";
import type { Status, StatusHost } from "../core/status.ts";
import { statusOutcomeOf } from "../core/status-answers.ts";

export const githubHeaders = (token: string): Record<string, string> => ({
  Accept: "application/vnd.github+json",
  "X-GitHub-Api-Version": "2022-11-28",
  Authorization: `Bearer ${token}`,
});

/** https://docs.github.com/en/rest/commits/statuses#create-a-commit-status */
const request = (status: Status, token: string): HostRequest => {
  const { fullName, sha, state, url, description, context } = status;
  return {
    method: "POST",
    path: `/repos/${fullName.split("/").map(encodeURIComponent).join("/")}/statuses/${encodeURIComponent(sha)}`,
    headers: githubHeaders(token),
    body: { state, ...(url !== null && { target_url: url }), description, context },
  };
};

export const GITHUB_STATUSES: StatusHost = {
  request,
  outcome: statusOutcomeOf,
  repository: (repoId, token) => ({ method: "GET", path: `/repositories/${repoId}`, headers: githubHeaders(token) }),
};
