import * as z from "zod/mini";
import type { HookSettings, HostAddress, HostClient, RepositoryAtHost, RepositoryName } from "../core/git-host.ts";
import { ask, encodePath, type HostManner, HostNumber, order } from "../core/host-api.ts";

/** The version of the REST API: https://docs.github.com/en/rest/about-the-rest-api/api-versions */
export const VERSION_HEADERS: Record<string, string> = {
  Accept: "application/vnd.github+json",
  "X-GitHub-Api-Version": "2022-11-28",
};

/** @param bearer A token, or a JWT signed by an App. */
export const githubHeaders = (bearer: string): Record<string, string> => ({
  ...VERSION_HEADERS,
  Authorization: `Bearer ${bearer}`,
});

const EVENTS = ["push", "pull_request", "merge_group", "repository"];
/** The maximum number of hooks on a page. A repository may have 20 hooks for each event. */
const MOST_HOOKS = 100;

const TO_READ = "the scope repo (classic), or Metadata: read (fine-grained)";
const HOOKS = "the scope admin:repo_hook (classic), or Webhooks: read and write (fine-grained)";
/**
 * The classic scopes that the service needs, with a sentence for each. GitHub does not report those of fine-grained
 * tokens.
 */
const NEEDED: { scopes: string[]; sentence: string }[] = [
  { scopes: ["repo", "admin:repo_hook"], sentence: `The token cannot manage hooks: give it ${HOOKS}.` },
  {
    scopes: ["repo", "repo:status", "public_repo"],
    sentence: "The token cannot set commit statuses: give it the scope repo:status (classic).",
  },
];

const Account = z.object({ login: z.string() });
export const RepoAnswer = z.object({
  id: HostNumber,
  full_name: z.string(),
  default_branch: z.nullish(z.string()),
  private: z.boolean(),
});
const Hook = z.object({ id: HostNumber, active: z.boolean(), config: z.object({ url: z.nullish(z.string()) }) });

export const toHostRepository = (repository: z.infer<typeof RepoAnswer>): RepositoryAtHost => ({
  id: repository.id,
  fullName: repository.full_name,
  defaultBranch: repository.default_branch ?? null,
  isPrivate: repository.private,
});

const toHookBody = ({ url, secret }: HookSettings) => ({
  active: true,
  events: EVENTS,
  config: { url, secret, content_type: "json", insecure_ssl: "0" },
});

const readScopes = (headers: Headers): string[] | null =>
  headers
    .get("X-OAuth-Scopes")
    ?.split(",")
    .map((scope) => scope.trim())
    .filter((scope) => scope !== "") ?? null;

/** A client for GitHub's cloud and its Enterprise Server with a personal access token. */
export const githubClient = ({ apiUrl, token }: HostAddress): HostClient => {
  const manner: HostManner = { name: "GitHub", apiUrl, headers: githubHeaders(token) };
  const read = async (path: string) =>
    toHostRepository((await ask(manner, { method: "GET", path, right: TO_READ }, RepoAnswer)).value);
  const hooksPath = ({ fullName }: RepositoryName) => `/repos/${encodePath(fullName)}/hooks`;
  return {
    async account() {
      const { value, headers } = await ask(manner, { method: "GET", path: "/user", right: TO_READ }, Account);
      return { name: value.login, scopes: readScopes(headers) };
    },
    async repositories(page, limit) {
      const path = `/user/repos?sort=full_name&per_page=${limit}&page=${page}`;
      const { value } = await ask(manner, { method: "GET", path, right: TO_READ, isList: true }, z.array(RepoAnswer));
      return value.map(toHostRepository);
    },
    // GitHub redirects renamed repositories to this address.
    repositoryById: (id) => read(`/repositories/${id}`),
    repositoryByName: (fullName) => read(`/repos/${encodePath(fullName)}`),
    async hooks(repository) {
      const path = `${hooksPath(repository)}?per_page=${MOST_HOOKS}`;
      const { value } = await ask(manner, { method: "GET", path, right: HOOKS, isList: true }, z.array(Hook));
      return value.map(({ id, active, config }) => ({
        id: String(id),
        url: config.url ?? "",
        trouble: active ? null : "The hook is disabled on GitHub.",
      }));
    },
    async createHook(repository, hook) {
      const body = { name: "web", ...toHookBody(hook) };
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
    missing: (scopes) =>
      scopes === null
        ? []
        : NEEDED.filter(({ scopes: any }) => !any.some((one) => scopes.includes(one))).map(({ sentence }) => sentence),
  };
};
