import { base62 } from "../../crypto/signer.ts";
import { isMac } from "../core/delivery.ts";
import type { GitHost } from "../core/git-host.ts";
import { encodePath } from "../core/host-api.ts";
import type { HostRequest } from "../core/host-fetch.ts";
import type { Status } from "../core/status.ts";
import { readStatusOutcome } from "../core/status-answers.ts";
import { giteaClient } from "./client.ts";
import { giteaArrival } from "./deliveries.ts";

const SIGNATURE = /^[0-9a-f]{64}$/;

const toHeaders = (token: string): Record<string, string> => ({ Authorization: `token ${token}` });

/** Creates the request `POST /repos/{owner}/{repo}/statuses/{sha}`. Its states are the same as GitHub's. */
const statusRequest = (status: Status, token: string): HostRequest => {
  const { fullName, sha, state, url, description, context } = status;
  return {
    method: "POST",
    path: `/repos/${encodePath(fullName)}/statuses/${encodeURIComponent(sha)}`,
    headers: toHeaders(token),
    body: { state, ...(url !== null && { target_url: url }), description, context },
  };
};

/** Gitea and Forgejo. */
export const GITEA: GitHost = {
  eventHeader: "X-Gitea-Event",
  deliveryHeaders: ["X-Gitea-Delivery"],
  readArrival: giteaArrival,
  /** Forgejo's own header takes precedence over Gitea's. */
  proves(headers, bytes, secret) {
    const signature = headers.get("X-Forgejo-Signature") ?? headers.get("X-Gitea-Signature") ?? "";
    return isMac(SIGNATURE.exec(signature)?.[0], bytes, secret);
  },
  hookSecret: base62,
  apiUrl: (webUrl) => `${webUrl}/api/v1`,
  pageUrl: (repositoryUrl, page) => `${repositoryUrl}/${page}`,
  client: giteaClient,
  statuses: {
    request: statusRequest,
    outcome: readStatusOutcome,
    repository: (repoId, token) => ({ method: "GET", path: `/repositories/${repoId}`, headers: toHeaders(token) }),
  },
  statusGapMs: 0,
  keepsRefsApart: false,
  app: null,
};
