import { base62 } from "../../crypto/signer.ts";
import { SECOND_MS } from "../../protocol/units.ts";
import { isMac } from "../core/delivery.ts";
import type { GitHost } from "../core/git-host.ts";
import { githubClient } from "./client.ts";
import { githubArrival } from "./deliveries.ts";
import { GITHUB_CHECK_RUNS, GITHUB_STATUSES } from "./statuses.ts";

const SIGNATURE = /^sha256=([0-9a-f]{64})$/;

/** GitHub's cloud and its Enterprise Server. */
export const GITHUB: GitHost = {
  eventHeader: "X-GitHub-Event",
  deliveryHeaders: ["X-GitHub-Delivery"],
  readArrival: githubArrival,
  proves: (headers, bytes, secret) =>
    isMac(SIGNATURE.exec(headers.get("X-Hub-Signature-256") ?? "")?.[1], bytes, secret),
  hookSecret: base62,
  /** GitHub's cloud has its API on another host. */
  apiUrl(webUrl) {
    const { protocol, host } = new URL(webUrl);
    const isCloud = host === "github.com" || host.endsWith(".ghe.com");
    return isCloud ? `${protocol}//api.${host}` : `${webUrl}/api/v3`;
  },
  pageUrl: (repositoryUrl, page) => `${repositoryUrl}/${page}`,
  client: githubClient,
  statuses: GITHUB_STATUSES,
  // The gap that GitHub recommends:
  // https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
  statusGapMs: SECOND_MS,
  keepsRefsApart: false,
  app: { statuses: GITHUB_CHECK_RUNS },
};
