import * as z from "zod/mini";
import type { HookSettings, HostAddress, HostClient, RepositoryAtHost, RepositoryName } from "../core/git-host.ts";
import { ask, encodePath, type HostManner, HostNumber, order } from "../core/host-api.ts";

const TO_READ = "the permission read:repository";
const ACCOUNT = "the permission read:user";
const HOOKS = "the permission write:repository, as an administrator of the repository";
/** The maximum number of hooks on a page. Gitea's default maximum page has 50 entries (`MAX_RESPONSE_ITEMS`). */
const MOST_HOOKS = 50;
const EVENTS = ["push", "create", "delete", "pull_request"];

const Account = z.object({ login: z.string() });
const Repository = z.object({
  id: HostNumber,
  full_name: z.string(),
  default_branch: z.nullish(z.string()),
  private: z.boolean(),
});
const Hook = z.object({
  id: HostNumber,
  active: z.boolean(),
  config: z.nullish(z.object({ url: z.nullish(z.string()) })),
});

const toRepository = (repository: z.infer<typeof Repository>): RepositoryAtHost => ({
  id: repository.id,
  fullName: repository.full_name,
  defaultBranch: repository.default_branch ?? null,
  isPrivate: repository.private,
});

const toHookBody = ({ url, secret }: HookSettings) => ({
  active: true,
  events: EVENTS,
  config: { url, secret, content_type: "json" },
});

/** A client for Gitea and Forgejo with an access token. */
export const giteaClient = ({ apiUrl, token }: HostAddress): HostClient => {
  const manner: HostManner = { name: "Gitea", apiUrl, headers: { Authorization: `token ${token}` } };
  const read = async (path: string) =>
    toRepository((await ask(manner, { method: "GET", path, right: TO_READ }, Repository)).value);
  const hooksPath = ({ fullName }: RepositoryName) => `/repos/${encodePath(fullName)}/hooks`;
  return {
    async account() {
      const { value } = await ask(manner, { method: "GET", path: "/user", right: ACCOUNT }, Account);
      return { name: value.login, scopes: null };
    },
    async repositories(page, limit) {
      const path = `/user/repos?limit=${limit}&page=${page}`;
      const { value } = await ask(manner, { method: "GET", path, right: TO_READ, isList: true }, z.array(Repository));
      return value.map(toRepository);
    },
    repositoryById: (id) => read(`/repositories/${id}`),
    repositoryByName: (fullName) => read(`/repos/${encodePath(fullName)}`),
    async hooks(repository) {
      const path = `${hooksPath(repository)}?limit=${MOST_HOOKS}`;
      const { value } = await ask(manner, { method: "GET", path, right: HOOKS, isList: true }, z.array(Hook));
      return value.map(({ id, active, config }) => ({
        id: String(id),
        url: config?.url ?? "",
        trouble: active ? null : "The hook is disabled on the host.",
      }));
    },
    async createHook(repository, hook) {
      const body = { type: "gitea", ...toHookBody(hook) };
      const request = { method: "POST", path: hooksPath(repository), right: HOOKS, body } as const;
      return String((await ask(manner, request, z.object({ id: HostNumber }))).value.id);
    },
    updateHook: (repository, id, hook) =>
      order(manner, {
        method: "PATCH",
        path: `${hooksPath(repository)}/${id}`,
        right: HOOKS,
        body: toHookBody(hook),
      }),
    deleteHook: (repository, id) =>
      order(manner, { method: "DELETE", path: `${hooksPath(repository)}/${id}`, right: HOOKS }),
    missing: () => [],
  };
};
