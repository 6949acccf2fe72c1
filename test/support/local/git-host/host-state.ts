import type { HostedRepository } from "./hosted-repository.ts";

/** Forgejo is `gitea`. */
export type HostKind = "github" | "gitlab" | "gitea";

/** A state of a commit that was taken, in the host's words. */
export interface PostedStatus {
  repository: HostedRepository;
  sha: string;
  context: string;
  state: string;
  description: string;
  targetUrl: string;
  /** GitLab alone asks for it. */
  ref: string | null;
}

/** What a git host knows. */
export interface HostState {
  kind: HostKind;
  /** Of its pages and clones. */
  url: string;
  /** The one that the API takes. */
  token: string;
  account: string;
  repositories: HostedRepository[];
  /** In the order in which they came. */
  statuses: PostedStatus[];
  /** A number that nothing else has at this host. */
  nextId(): number;
}

export interface ApiRequest {
  method: string;
  /** Below the address of the API. */
  path: string;
  query: URLSearchParams;
  headers: Record<string, string | string[] | undefined>;
  // biome-ignore lint/suspicious/noExplicitAny: the bodies of three hosts, which their schemas have judged.
  body: any;
}

export interface ApiAnswer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

export const NOT_FOUND: ApiAnswer = { status: 404, body: { message: "404 Not Found" } };

/** A handler for each pattern of method and path; what the pattern's groups found are its parameters. */
export type ApiRoutes = [pattern: RegExp, handle: (request: ApiRequest, found: string[]) => ApiAnswer][];

export const route = (routes: ApiRoutes, request: ApiRequest): ApiAnswer => {
  for (const [pattern, handle] of routes) {
    const [whole, ...found] = pattern.exec(`${request.method} ${request.path}`) ?? [];
    if (whole !== undefined) return handle(request, found.map(decodeURIComponent));
  }
  return NOT_FOUND;
};

/** The items of one page. */
export const pageOf = <T>(items: T[], query: URLSearchParams, limitName: string): T[] => {
  const limit = Number(query.get(limitName) ?? 30);
  const page = Number(query.get("page") ?? 1);
  return items.slice((page - 1) * limit, page * limit);
};
