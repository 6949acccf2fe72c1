import * as z from "zod/mini";
import type { HookSettings, HostAddress, HostClient, RepositoryAtHost, RepositoryName } from "../core/git-host.ts";
import { ask, type HostManner, HostNumber, HostProblem, order } from "../core/host-api.ts";

const API = "the scope api";
const HOOKS = "the scope api and the role Maintainer in the project";
const MOST_HOOKS = 100;

const Account = z.object({ username: z.string() });
const OwnToken = z.object({ scopes: z.array(z.string()) });
const Project = z.object({
  id: HostNumber,
  path_with_namespace: z.string(),
  default_branch: z.nullish(z.string()),
  visibility: z.nullish(z.string()),
});
const Hook = z.object({
  id: HostNumber,
  url: z.string(),
  alert_status: z.nullish(z.string()),
});

const toRepository = (project: z.infer<typeof Project>): RepositoryAtHost => ({
  id: project.id,
  fullName: project.path_with_namespace,
  defaultBranch: project.default_branch ?? null,
  isPrivate: project.visibility !== "public",
});

const toHookBody = ({ url, secret }: HookSettings) => ({
  url,
  token: secret,
  push_events: true,
  tag_push_events: true,
  merge_requests_events: true,
  enable_ssl_verification: true,
});

/** A client for GitLab's cloud and self-managed instances with a personal, group or project access token. */
export const gitlabClient = ({ apiUrl, token }: HostAddress): HostClient => {
  const manner: HostManner = { name: "GitLab", apiUrl, headers: { "PRIVATE-TOKEN": token } };
  const read = async (name: string) =>
    toRepository((await ask(manner, { method: "GET", path: `/projects/${name}`, right: API }, Project)).value);
  const hooksPath = ({ id }: RepositoryName) => `/projects/${id}/hooks`;
  /** Returns the token's scopes; null if GitLab's release lacks this request. @throws HostProblem */
  const scopes = async (): Promise<string[] | null> => {
    try {
      const request = { method: "GET", path: "/personal_access_tokens/self", right: API } as const;
      return (await ask(manner, request, OwnToken)).value.scopes;
    } catch (error) {
      if (error instanceof HostProblem && error.kind === "missing") return null;
      throw error;
    }
  };
  return {
    async account() {
      const { value } = await ask(manner, { method: "GET", path: "/user", right: API }, Account);
      return { name: value.username, scopes: await scopes() };
    },
    async repositories(page, limit) {
      const path = `/projects?membership=true&order_by=id&sort=asc&per_page=${limit}&page=${page}`;
      const { value } = await ask(manner, { method: "GET", path, right: API, isList: true }, z.array(Project));
      return value.map(toRepository);
    },
    repositoryById: (id) => read(String(id)),
    repositoryByName: (fullName) => read(encodeURIComponent(fullName)),
    async hooks(repository) {
      const path = `${hooksPath(repository)}?per_page=${MOST_HOOKS}`;
      const { value } = await ask(manner, { method: "GET", path, right: HOOKS, isList: true }, z.array(Hook));
      return value.map(({ id, url, alert_status }) => ({
        id: String(id),
        url,
        trouble: /disabled/.test(alert_status ?? "")
          ? "GitLab has disabled the hook after failures: test it there."
          : null,
      }));
    },
    async createHook(repository, hook) {
      const request = { method: "POST", path: hooksPath(repository), right: HOOKS, body: toHookBody(hook) } as const;
      return String((await ask(manner, request, z.object({ id: HostNumber }))).value.id);
    },
    updateHook: (repository, id, hook) =>
      order(manner, { method: "PUT", path: `${hooksPath(repository)}/${id}`, right: HOOKS, body: toHookBody(hook) }),
    deleteHook: (repository, id) =>
      order(manner, { method: "DELETE", path: `${hooksPath(repository)}/${id}`, right: HOOKS }),
    missing: (scopes) =>
      scopes === null || scopes.includes("api")
        ? []
        : ["The token can neither manage hooks nor set statuses: give it the scope api."],
  };
};
