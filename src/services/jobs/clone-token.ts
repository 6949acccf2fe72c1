import { getTableColumns, sql } from "drizzle-orm";
import { connection, repository } from "../../db/schema.ts";
import { cloneOrigin } from "../../domain/clone-url.ts";
import type { HostProblem } from "../../githosts/core/host-api.ts";
import { log } from "../../log.ts";
import type { Job } from "../../protocol/jobs.ts";
import type { Context } from "../core/context.ts";
import { Refusal } from "../core/refusal.ts";

type Credential = NonNullable<Job["repository"]["credential"]>;

const RETRY_AFTER_SECONDS = 5;
/** The user name that GitHub expects with an installation's token. */
const USERNAME = "x-access-token";

/**
 * A repository's columns, with the host of its connection's App. The host is null if no installed App may clone the
 * repository.
 */
export const WITH_APP = {
  ...getTableColumns(repository),
  appOrigin: sql<string | null>`(SELECT clone_origin FROM ${connection} AS c WHERE c.id = ${repository.connectionId}
    AND c.org_id = ${repository.orgId} AND c.auth = 'app' AND c.installation_id IS NOT NULL AND c.is_active)`.as(
    "app_origin",
  ),
};
type WithApp = typeof repository.$inferSelect & { appOrigin: string | null };

/**
 * Continues without a token. A public repository needs no token. For a private repository, git reports the missing
 * permission.
 */
const without = ({ orgId, requestId }: Context, { message }: Pick<HostProblem, "message">): null => {
  log.warn("clone.token_missing", { orgId, requestId, reason: message });
  return null;
};

/**
 * Returns a token that may read only this repository's contents, for an hour at most; null if no App may clone the
 * repository.
 * @throws Refusal unavailable if GitHub does not answer
 */
export const cloneToken = async (
  context: Context,
  { connectionId, gitHostRepoId, cloneUrl, appOrigin }: WithApp,
): Promise<Credential | null> => {
  // Send a token only to the App's host, because a record may name any address.
  if (connectionId === null || appOrigin === null || cloneOrigin(cloneUrl) !== appOrigin) return null;
  const answer = await context.objects.gitHost(context.orgId, connectionId).cloneToken(gitHostRepoId, cloneUrl);
  if ("token" in answer) return { kind: "token", username: USERNAME, value: answer.token };
  if (answer.problem.kind !== "away") return without(context, answer.problem);
  const detail = "The git host issued no token to clone the repository. The job is back in the queue.";
  throw new Refusal("unavailable", detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
};
