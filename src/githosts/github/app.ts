import * as z from "zod/mini";
import type { Role } from "../../protocol/token.ts";
import type { HookSettings, HostReader } from "../core/git-host.ts";
import { ask, encodePath, type HostManner, HostNumber, HostProblem, order } from "../core/host-api.ts";
import { hostFetch } from "../core/host-fetch.ts";
import { APP_PERMISSIONS } from "./app-manifest.ts";
import { githubHeaders, RepoAnswer, toHostRepository, VERSION_HEADERS } from "./client.ts";

const RIGHT = "the permissions that it requests";
const MOST_INSTALLATIONS = 100;

export const notInstalled = (): HostProblem =>
  new HostProblem("right", "The App is not installed yet: install it on GitHub.");

/** A token of a GitHub App's installation. */
interface InstallationToken {
  token: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** The scope of a token: all permissions of the App, or fewer. */
export interface TokenScope {
  /** Numbers of repositories. By default, the token is for all repositories that the installation sees. */
  repositoryIds?: number[];
  permissions?: Record<string, "read" | "write">;
  /**
   * Whether to use GitHub's token format from before April 2026, for repositories where git does not accept the new
   * format.
   */
  isClassic?: boolean;
}

const TokenForm = z.object({
  token: z.string().check(z.minLength(1), z.maxLength(4_096), z.regex(/^[\x21-\x7e]+$/)),
  expires_at: z.string(),
});

const App = z.object({
  id: HostNumber,
  client_id: z.nullish(z.string()),
  html_url: z.nullish(z.string()),
});

const Installation = z.object({
  id: HostNumber,
  account: z.nullish(z.object({ login: z.nullish(z.string()) })),
  permissions: z.nullish(z.record(z.string(), z.string())),
  suspended_at: z.nullish(z.string()),
});

/** An App as its host reports it. `pageUrl` is where people install it. */
interface KnownApp {
  id: string;
  clientId: string | null;
  pageUrl: string | null;
}

/** A place where the App is installed. */
export interface InstalledPlace {
  id: string;
  account: string | null;
  isSuspended: boolean;
  /** The granted permissions, such as `checks:write`. */
  permissions: string[];
}

const toInstalled = ({ id, account, permissions, suspended_at }: z.infer<typeof Installation>): InstalledPlace => ({
  id: String(id),
  account: account?.login ?? null,
  isSuspended: suspended_at != null,
  permissions: Object.entries(permissions ?? {}).map(([name, level]) => `${name}:${level}`),
});

export const appManner = (apiUrl: string, bearer: string, more: Record<string, string> = {}): HostManner => ({
  name: "GitHub",
  apiUrl,
  proof: "App's key",
  headers: { ...githubHeaders(bearer), ...more },
});

/** Creates a token of an installation. @throws HostProblem */
export const installationToken = async (
  apiUrl: string,
  jwt: string,
  installationId: string,
  { repositoryIds, permissions, isClassic }: TokenScope = {},
): Promise<InstallationToken> => {
  const manner = appManner(apiUrl, jwt, isClassic ? { "X-GitHub-Stateless-S2S-Token": "disabled" } : {});
  const path = `/app/installations/${encodeURIComponent(installationId)}/access_tokens`;
  const body = { ...(repositoryIds && { repository_ids: repositoryIds }), ...(permissions && { permissions }) };
  const { value } = await ask(manner, { method: "POST", path, right: RIGHT, body }, TokenForm);
  return { token: value.token, expiresAt: Date.parse(value.expires_at) };
};

/** The requests that an App may send about itself. Each call may throw a `HostProblem`. */
export const appAt = (apiUrl: string, jwt: string) => {
  const manner = appManner(apiUrl, jwt);
  const askApp = <T>(path: string, form: z.ZodMiniType<T>, isList?: true) =>
    ask(manner, { method: "GET", path, right: RIGHT, ...(isList && { isList }) }, form);
  return {
    async facts(): Promise<KnownApp> {
      const { value } = await askApp("/app", App);
      return { id: String(value.id), clientId: value.client_id ?? null, pageUrl: value.html_url ?? null };
    },
    async installations(): Promise<InstalledPlace[]> {
      const path = `/app/installations?per_page=${MOST_INSTALLATIONS}`;
      return (await askApp(path, z.array(Installation), true)).value.map(toInstalled);
    },
    async installation(id: string): Promise<InstalledPlace> {
      return toInstalled((await askApp(`/app/installations/${encodeURIComponent(id)}`, Installation)).value);
    },
    /** Finds the App's installation for a repository. */
    async findInstallation(fullName: string): Promise<string> {
      return String(
        (await askApp(`/repos/${encodePath(fullName)}/installation`, z.object({ id: HostNumber }))).value.id,
      );
    },
    /** Returns the address that receives deliveries. */
    async hookUrl(): Promise<string | null> {
      return (await askApp("/app/hook/config", z.object({ url: z.nullish(z.string()) }))).value.url ?? null;
    },
    setHook: ({ url, secret }: HookSettings) =>
      order(manner, {
        method: "PATCH",
        path: "/app/hook/config",
        right: RIGHT,
        body: { url, secret, content_type: "json", insecure_ssl: "0" },
      }),
    uninstall: (id: string) =>
      order(manner, { method: "DELETE", path: `/app/installations/${encodeURIComponent(id)}`, right: RIGHT }),
  };
};
export type AppAt = ReturnType<typeof appAt>;

const ConversionForm = z.object({ id: HostNumber, client_id: z.nullish(z.string()), pem: z.string() });

/** An App that GitHub has just created. `key` is its private key, as PEM, which no person sees. */
export interface MadeApp {
  id: string;
  clientId: string | null;
  key: string;
}

/**
 * Fetches the App that a person created from a manifest. GitHub accepts a code once, within an hour.
 * https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest @throws HostProblem
 */
export const convertManifest = async (apiUrl: string, code: string): Promise<MadeApp> => {
  const manner: HostManner = { name: "GitHub", apiUrl, headers: VERSION_HEADERS };
  const path = `/app-manifests/${encodeURIComponent(code)}/conversions`;
  const { value } = await ask(manner, { method: "POST", path, right: RIGHT }, ConversionForm);
  return { id: String(value.id), clientId: value.client_id ?? null, key: value.pem };
};

/** Reads the data that an App's installation sees. `token` is the installation's. */
export const githubAppReader = (app: AppAt, installationId: string, apiUrl: string, token: string): HostReader => {
  const manner = appManner(apiUrl, token);
  /** Check that the App is installed for the repository, because the token can read everything public. */
  const read = async (path: string) => {
    const repository = toHostRepository((await ask(manner, { method: "GET", path, right: RIGHT }, RepoAnswer)).value);
    await app.findInstallation(repository.fullName);
    return repository;
  };
  return {
    async account() {
      const { account, permissions } = await app.installation(installationId);
      return { name: account ?? "an account", scopes: permissions };
    },
    async repositories(page, limit) {
      const path = `/installation/repositories?per_page=${limit}&page=${page}`;
      const form = z.object({ repositories: z.array(RepoAnswer) });
      const { value } = await ask(manner, { method: "GET", path, right: RIGHT, isList: true }, form);
      return value.repositories.map(toHostRepository);
    },
    repositoryById: (id) => read(`/repositories/${id}`),
    repositoryByName: (fullName) => read(`/repos/${encodePath(fullName)}`),
    missing: (scopes) => findMissing(scopes ?? []),
  };
};

/** Returns the missing permissions. A permission to write includes the permission to read. */
const findMissing = (granted: string[]): string[] =>
  Object.entries(APP_PERMISSIONS)
    .filter(([name, level]) => ![`${name}:${level}`, `${name}:write`].some((one) => granted.includes(one)))
    .map(([name, level]) => `The App lacks the permission ${name}: ${level}. Accept it on GitHub, in its settings.`);

/**
 * Reports whether git's own protocol hides a repository from this token. GitHub answers 404 to tokens in the format of
 * April 2026 for some private repositories, while its API accepts them:
 * https://github.com/orgs/community/discussions/211387
 */
export const isHiddenFromGit = async (cloneUrl: string, token: string): Promise<boolean> => {
  const { origin, pathname } = new URL(cloneUrl);
  const answer = await hostFetch(origin, {
    method: "GET",
    path: `${pathname.replace(/\/$/, "")}/info/refs?service=git-upload-pack`,
    headers: { Accept: "*/*", Authorization: `Basic ${btoa(`x-access-token:${token}`)}` },
  });
  return "status" in answer && answer.status === 404;
};

const Permission = z.object({ permission: z.string(), role_name: z.nullish(z.string()) });

/**
 * Returns the role of a person by their permission on the repository: member for write, maintainer for maintain, admin
 * for admin, and null for less.
 * https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
 * @throws HostProblem
 */
export const roleAtGithub = async (
  apiUrl: string,
  token: string,
  fullName: string,
  login: string,
): Promise<Role | null> => {
  const path = `/repos/${encodePath(fullName)}/collaborators/${encodeURIComponent(login)}/permission`;
  const request = { method: "GET", path, right: "the permission Metadata: read" } as const;
  try {
    const { permission, role_name: name } = (await ask(appManner(apiUrl, token), request, Permission)).value;
    if (permission === "admin") return "admin";
    if (permission !== "write") return null;
    return name === "maintain" ? "maintainer" : "member";
  } catch (error) {
    if (error instanceof HostProblem && error.kind === "missing") return null;
    throw error;
  }
};
