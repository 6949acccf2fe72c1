import type { HostRequest } from "../core/host-fetch.ts";
import type { Status, StatusHost } from "../core/status.ts";
import { statusOutcomeOf } from "../core/status-answers.ts";

const headersOf = (token: string): Record<string, string> => ({ Authorization: `token ${token}` });

/** `POST /repos/{owner}/{repo}/statuses/{sha}` of Gitea and Forgejo, whose states are those of GitHub. */
const request = (status: Status, token: string): HostRequest => {
  const { fullName, sha, state, url, description, context } = status;
  return {
    method: "POST",
    path: `/repos/${fullName.split("/").map(encodeURIComponent).join("/")}/statuses/${encodeURIComponent(sha)}`,
    headers: headersOf(token),
    body: { state, ...(url !== null && { target_url: url }), description, context },
  };
};

export const GITEA_STATUSES: StatusHost = {
  request,
  outcome: statusOutcomeOf,
  repository: (repoId, token) => ({ method: "GET", path: `/repositories/${repoId}`, headers: headersOf(token) }),
};
