import type { Arrival } from "./arrival.ts";
import type { Fields } from "./body.ts";
import type { HostAnswer, HostRequest, HostResponse } from "./host-fetch.ts";
import type { Status } from "./status.ts";
import type { StatusOutcome } from "./status-answers.ts";

/**
 * A kind of git host: everything in which GitHub, GitLab and Gitea differ. Each kind is one value of this interface in
 * its own folder, and all other code gets the value from `HOSTS` (`src/githosts/hosts.ts`).
 *
 * To add a kind of host:
 * 1. Name it in `HostKind` (`src/protocol/connection.ts`). tsc then names the two tables that lack a row.
 * 2. Write its folder. `github`, `gitlab` and `gitea` each have `deliveries.ts` for the host's events, `client.ts` for
 *    requests to the host, and a file with the name of the kind for the rest and the value itself.
 * 3. Give it a row in `HOSTS`, and one in `GIT_HOSTS` (`src/dashboard/connections/git-hosts.tsx`) with its words.
 *
 * `test/githosts/fourth-host.test.ts` adds an unknown host in this way. docs/contributing.md lists the documents and
 * tests that follow.
 */
export interface GitHost {
  /** The header that names the event of a delivery. */
  eventHeader: string;
  /**
   * Headers that name a delivery. The first header that is present counts. It is the same for each attempt to deliver.
   */
  deliveryHeaders: readonly string[];
  /** Returns the event in a delivery. Never throws, and ignores anything unknown. */
  readArrival(event: string, fields: Fields): Arrival;
  /**
   * Reports whether the sender of a delivery knows the hook's secret, which is not empty. Only one header counts, so a
   * valid header of another kind of host does not outweigh a wrong one.
   * @param bytes The original body.
   */
  proves(headers: Headers, bytes: Uint8Array<ArrayBuffer>, secret: string): Promise<boolean>;
  /** Derives the secret of a hook from 32 bytes, in the host's format. A hook's secret never changes. */
  hookSecret(mac: Uint8Array): string;
  /** Derives the address of the API from the address of the host's pages, which has no slash at its end. */
  apiUrl(webUrl: string): string;
  /** Returns the address of a page below a repository's. */
  pageUrl(repositoryUrl: string, page: string): string;
  client(address: HostAddress): HostClient;
  statuses: StatusHost;
  /** Milliseconds between two statuses, if the host requires a gap. */
  statusGapMs: number;
  /** Whether the host keeps a commit's statuses separate for each branch and tag that contains it. */
  keepsRefsApart: boolean;
  /** The way in which an App reports states, in place of statuses. Null for a host without Apps like GitHub's. */
  app: { statuses: StatusHost } | null;
}

/** The address of a host's API, and a token for it. */
export interface HostAddress {
  apiUrl: string;
  token: string;
}

/**
 * The owner of the token according to the host. `scopes` are in the host's words; null if the host does not report
 * them.
 */
interface HostAccount {
  name: string;
  scopes: string[] | null;
}

/** A repository as the host reports it. `id` stays the same when the repository is renamed. */
export interface RepositoryAtHost {
  id: number;
  fullName: string;
  defaultBranch: string | null;
  isPrivate: boolean;
}

export type RepositoryName = Pick<RepositoryAtHost, "id" | "fullName">;

/** A hook at the host. `trouble` explains why the host does not send to the hook, in our words. */
export interface HostHook {
  id: string;
  url: string;
  trouble: string | null;
}

/** The settings for a new hook. */
export interface HookSettings {
  url: string;
  secret: string;
}

/** The service's read requests to a connection's git host. Each call may throw a `HostProblem`, and no other error. */
export interface HostReader {
  account(): Promise<HostAccount>;
  /** Returns the page with this number, from 1. The last page has fewer than `limit` repositories. */
  repositories(page: number, limit: number): Promise<RepositoryAtHost[]>;
  repositoryById(id: number): Promise<RepositoryAtHost>;
  repositoryByName(fullName: string): Promise<RepositoryAtHost>;
  /** Returns a sentence for each feature of the service that these scopes do not allow. */
  missing(scopes: string[] | null): string[];
}

/** A client that also manages the hooks of single repositories. An App has one hook for all repositories. */
export interface HostClient extends HostReader {
  hooks(repository: RepositoryName): Promise<HostHook[]>;
  /** @returns the hook's id */
  createHook(repository: RepositoryName, hook: HookSettings): Promise<string>;
  updateHook(repository: RepositoryName, id: string, hook: HookSettings): Promise<void>;
  deleteHook(repository: RepositoryName, id: string): Promise<void>;
}

/** How to report a status to a git host. */
export interface StatusHost {
  request(status: Status, token: string): HostRequest;
  outcome(answer: HostAnswer, now: number, status: Status): StatusOutcome;
  /** Finds statuses whose creation the host did not confirm. Absent if the host's statuses have no id. */
  find?: {
    request(status: Status, token: string): HostRequest;
    newest(answer: HostResponse, status: Status): number | null;
  };
  /** Returns the request for a repository by its id; null if a status contains the id anyway. */
  repository: ((repoId: number, token: string) => HostRequest) | null;
}
