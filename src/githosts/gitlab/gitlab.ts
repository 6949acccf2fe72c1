import { toBase64 } from "../../crypto/encoding.ts";
import { sameText } from "../../crypto/signer.ts";
import type { GitHost } from "../core/git-host.ts";
import type { HostAnswer, HostRequest } from "../core/host-fetch.ts";
import type { Status } from "../core/status.ts";
import { readStatusOutcome, type StatusOutcome } from "../core/status-answers.ts";
import { gitlabClient } from "./client.ts";
import { gitlabArrival } from "./deliveries.ts";

const toGitlabState = ({ state, ended }: Status): string => {
  if (ended === "canceled") return "canceled";
  return state === "failure" || state === "error" ? "failed" : state;
};

/**
 * Sets a commit's status: https://docs.gitlab.com/api/commits/#set-commit-pipeline-status. Names the project by its id,
 * which survives a rename.
 */
const request = (status: Status, token: string): HostRequest => {
  const { repoId, sha, ref, context, url, description, pipelineId } = status;
  return {
    method: "POST",
    path: `/projects/${repoId}/statuses/${encodeURIComponent(sha)}`,
    headers: { "PRIVATE-TOKEN": token },
    body: {
      state: toGitlabState(status),
      // Without a ref, GitLab sets the state on the first branch that has the commit.
      ...(ref !== undefined && { ref }),
      name: context,
      ...(url !== null && { target_url: url }),
      description,
      ...(pipelineId !== null && { pipeline_id: pipelineId }),
    },
  };
};

/** Reports whether GitLab's state equals the status. GitLab's running counts as our pending. */
const isSame = (status: Status, atHost: string): boolean =>
  atHost === toGitlabState(status) || (status.state === "pending" && atHost === "running");

/**
 * Reads an answer. GitLab's statuses are a state machine. GitLab rejects a repeat with 400, although the state is set.
 * If somebody canceled the job by hand, GitLab also rejects a state after that end. The next try then creates another
 * job.
 */
const outcome = (answer: HostAnswer, now: number, status: Status): StatusOutcome => {
  if (!("unreachable" in answer) && answer.status === 400) {
    const [, atHost] = /Cannot transition status via :\w+ from :(\w+)/i.exec(answer.body) ?? [];
    if (atHost !== undefined) {
      if (isSame(status, atHost)) return { kind: "told", pipelineId: null };
      return { kind: "busy", reason: "GitLab has a different state for the build, and rejects this one." };
    }
    if (/target[_ ]url/i.test(answer.body)) return { kind: "unlinked", reason: "GitLab does not accept the link." };
  }
  return readStatusOutcome(answer, now);
};

/** GitLab's cloud and self-managed instances. */
export const GITLAB: GitHost = {
  eventHeader: "X-Gitlab-Event",
  deliveryHeaders: ["Idempotency-Key", "X-Gitlab-Event-UUID"],
  readArrival: gitlabArrival,
  /** GitLab sends the secret itself. */
  proves: async (headers, _bytes, secret) => sameText(headers.get("X-Gitlab-Token") ?? "", secret),
  /** Returns a secret in the format of Standard Webhooks, which newer releases require. */
  hookSecret: (mac) => `whsec_${toBase64(mac)}`,
  apiUrl: (webUrl) => `${webUrl}/api/v4`,
  pageUrl: (repositoryUrl, page) => `${repositoryUrl}/-/${page}`,
  client: gitlabClient,
  statuses: { request, outcome, repository: null },
  statusGapMs: 0,
  /** On GitLab, each branch and tag has its own pipeline, which contains its statuses. */
  keepsRefsApart: true,
  app: null,
};
