import type { Hono } from "hono";
import type { Build } from "../../protocol/build.ts";
import { listBuilds } from "../../services/builds/build-list.ts";
import type { Context } from "../../services/core/context.ts";
import { listRepositories } from "../../services/repositories/repositories.ts";
import type { AppEnv } from "../../web/app-env.ts";
import { wordOf } from "../parts/state.tsx";
import type { FollowedBuild } from "./followed-build.ts";
import { openRequest } from "./open-request.ts";
import { namesById, noInput } from "./verb-input.ts";

/** The number of newest builds that a request searches. */
const MOST = 50;
const MOST_BRANCHES = 20;

const startedBy = (context: Context, { createdBy }: Build): boolean =>
  createdBy !== null && context.admitted.actor === `token:${createdBy.id}`;

const followed = async (context: Context, isOwnWanted: boolean, branches: Set<string>): Promise<FollowedBuild[]> => {
  const [builds, repositories] = await Promise.all([
    listBuilds.run(context, { ...noInput, query: { limit: MOST } }),
    listRepositories.run(context, noInput),
  ]);
  const names = namesById(repositories, ({ fullName }) => fullName);
  return builds
    .filter((build) => (isOwnWanted && startedBy(context, build)) || branches.has(`${build.repoId}:${build.branch}`))
    .map(({ id, number, repoId, branch, subject, status, finishedAt }) => ({
      id,
      hasEnded: finishedAt !== null,
      title: `#${number} ${names.get(repoId) ?? "removed repository"} ${wordOf(status)}`,
      note: subject ?? branch,
    }));
};

/**
 * Serves the newest builds that this token started (if the request has `?own=1`), and the newest builds of the given
 * branches (`?branch=REPOSITORY:BRANCH`).
 */
export const mountFollowedRoute = (app: Hono<AppEnv>): void => {
  app.get("/followed", async (c) => {
    const context = await openRequest(c, { role: "viewer" }, false);
    const branches = new Set((c.req.queries("branch") ?? []).slice(0, MOST_BRANCHES));
    return c.json({ builds: await followed(context, c.req.query("own") === "1", branches) });
  });
};
