import type { HostKind } from "../../../src/protocol/connection.ts";
import { byId, byName, type Call, hookCall, json, missing, type Place, pageOf, shownLikeGithub } from "./answers.ts";
import { checkRunCall, permissionCall } from "./check-runs.ts";
import { gitlabStatuses, postGitlabStatus } from "./gitlab-statuses.ts";
import type { HostedHook, HostedRepository } from "./host-state.ts";

/** How one kind of host answers. */
export interface Manner {
  /** The path of the API below the host's address. */
  api: string;
  isToken(headers: Headers, token: string): boolean;
  /** Undefined if no route has this path. */
  answer(method: string, call: Call): Response | undefined;
}

const hookLikeGithub = ({ id, url, events }: HostedHook) => ({
  ...{ id, type: "Repository", name: "web", active: true, events },
  config: { url, content_type: "json", secret: "********" },
});

// biome-ignore lint/suspicious/noExplicitAny: the checker has seen it
const readLikeGithub = ({ config, events }: any, before?: HostedHook) => ({
  url: config?.url ?? before?.url,
  secret: config?.secret ?? before?.secret,
  events: events ?? before?.events,
});

/** GitHub redirects the old name of a repository to its number; Gitea to its new name. */
const moved = (
  place: Place,
  name: string,
  rest: string[],
  to: (one: HostedRepository) => string,
): Response | undefined => {
  const found = place.settings.repositories.find(({ formerNames }) => formerNames?.includes(name));
  if (!found) return undefined;
  const path = [to(found), ...rest].join("/");
  return json(301, { message: "Moved Permanently" }, { Location: `${place.api}/${path}` });
};

const postStatus = (call: Call, repository: HostedRepository, sha: string): Response => {
  call.place.statuses.push({ repositoryId: repository.id, sha, body: call.body });
  return json(201, { id: call.place.statuses.length, status: call.body.state, ...call.body });
};

/** The common routes of GitHub and Gitea below a repository. */
const below = (
  method: string,
  call: Call,
  repository: HostedRepository,
  [what, id = "", more = ""]: string[],
): Response | undefined => {
  if (what === undefined) return json(200, shownLikeGithub(repository));
  if (what === "check-runs" || what === "commits") return checkRunCall(method, call, repository, [what, id, more]);
  if (what === "collaborators" && more === "permission") return permissionCall(call, id);
  if (what === "statuses" && method === "POST") return postStatus(call, repository, id ?? "");
  if (what !== "hooks") return undefined;
  if (!call.place.settings.mayManageHooks) return missing();
  return hookCall(call, method, repository, id ? Number(id) : null, readLikeGithub, hookLikeGithub);
};

const likeGithub =
  (size: string, redirect: (one: HostedRepository) => string): Manner["answer"] =>
  (method, call) => {
    const { place, query } = call;
    const [first, second = "", third = "", ...rest] = call.parts;
    const { account, scopes, repositories } = place.settings;
    if (first === "user" && second === "repos")
      return json(200, pageOf(repositories, query, size).map(shownLikeGithub));
    if (first === "user")
      return json(200, { login: account, id: 1 }, scopes ? { "X-OAuth-Scopes": scopes.join(", ") } : {});
    if (first === "repositories") {
      const found = byId(place, Number(second));
      return found
        ? below(
            method,
            call,
            found,
            [third, ...rest].filter((part) => part !== ""),
          )
        : missing();
    }
    if (first !== "repos") return undefined;
    const name = `${second}/${third}`;
    const found = byName(place, name);
    return found ? below(method, call, found, rest) : (moved(place, name, rest, redirect) ?? missing());
  };

const project = ({ id, fullName, defaultBranch = "main", isPrivate = false }: HostedRepository) => ({
  ...{ id, path_with_namespace: fullName, default_branch: defaultBranch },
  visibility: isPrivate ? "private" : "public",
});

const hookOfGitlab = ({ id, url, repositoryId }: HostedHook) => ({
  id,
  url,
  project_id: repositoryId,
  alert_status: "executable",
});

// biome-ignore lint/suspicious/noExplicitAny: the checker has seen it
const readGitlabHook = (body: any, before?: HostedHook) => ({
  url: body.url ?? before?.url,
  secret: body.token ?? before?.secret,
  events: Object.keys(body).filter((name) => name.endsWith("_events") && body[name] === true),
});

const gitlab: Manner["answer"] = (method, call) => {
  const { place, query } = call;
  const [first, second, what, id = "", sha = "", last] = call.parts;
  const { account, scopes, repositories, mayManageHooks } = place.settings;
  if (first === "user") return json(200, { id: 1, username: account });
  if (first === "personal_access_tokens") return scopes ? json(200, { id: 1, scopes }) : missing();
  if (first !== "projects") return undefined;
  if (second === undefined) return json(200, pageOf(repositories, query, "per_page").map(project));
  const found = /^\d+$/.test(second) ? byId(place, Number(second)) : byName(place, second);
  if (!found) return missing();
  if (what === undefined) return json(200, project(found));
  if (what === "statuses" && method === "POST") return postGitlabStatus(call, found, id);
  if (what === "repository" && last === "statuses") return gitlabStatuses(call, found, sha);
  if (what !== "hooks") return undefined;
  if (!mayManageHooks) return json(403, { message: "403 Forbidden" });
  return hookCall(call, method, found, id ? Number(id) : null, readGitlabHook, hookOfGitlab);
};

export const MANNERS: Record<HostKind, Manner> = {
  github: {
    api: "/api/v3",
    isToken: (headers, token) => headers.get("Authorization") === `Bearer ${token}`,
    answer: likeGithub("per_page", ({ id }) => `repositories/${id}`),
  },
  gitlab: {
    api: "/api/v4",
    isToken: (headers, token) => headers.get("PRIVATE-TOKEN") === token,
    answer: gitlab,
  },
  gitea: {
    api: "/api/v1",
    isToken: (headers, token) => headers.get("Authorization") === `token ${token}`,
    answer: likeGithub("limit", ({ fullName }) => `repos/${fullName}`),
  },
};
