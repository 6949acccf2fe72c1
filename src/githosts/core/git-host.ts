import type { Arrival } from "./arrival.ts";
import type { Fields } from "./body.ts";
import type { HostAnswer, HostRequest, HostResponse } from "./host-fetch.ts";
import type { Status } from "./status.ts";
import type { StatusOutcome } from "./status-answers.ts";

/**
 * A kind of git host: everything that GitHub, GitLab and Gitea do differently. Each kind is one value of this interface
 * in a folder of its own, and all other code takes the value of a kind from `HOSTS` (`src/githosts/hosts.ts`).
 *
 * To add a kind of host:
 * 1. Name it in `HostKind` (`src/protocol/connection.ts`). tsc then names the two tables that lack a row.
 * 2. Write its folder. `github`, `gitlab` and `gitea` each have `deliveries.ts` for what the host sends, `client.ts` for
 *    what it is asked, and a file with the name of the kind for the rest and the value itself.
 * 3. Give it a row in `HOSTS`, and one in `GIT_HOSTS` (`src/dashboard/connections/git-hosts.tsx`) with its words.
 *
 * `test/githosts/fourth-host.test.ts` does so with a host that is not one of ours, and docs/contributing.md has the
 * documents and tests that follow.
 */
export interface GitHost {
  /** The header of a delivery that names its event. */
  eventHeader: string;
  /** Headers that name a delivery. The first one that was sent counts: the same for each attempt to deliver. */
  deliveryHeaders: readonly string[];
  /** What a delivery says that happened. Never throws: what it does not understand, it ignores. */
  readArrival(event: string, fields: Fields): Arrival;
  /**
   * Whether who sent a delivery knows the hook's secret, which is not empty. One header counts, whatever else was sent:
   * a wrong one is not saved by a right one of another kind of host.
   * @param bytes The body as it came.
   */
  proves(headers: Headers, bytes: Uint8Array<ArrayBuffer>, secret: string): Promise<boolean>;
  /** The secret of a hook, made of 32 bytes, in the form that the host takes. A hook keeps its secret for good. */
  hookSecret(mac: Uint8Array): string;
  /** Where the API is, from the address of the host's pages, which ends without a slash. */
  apiUrl(webUrl: string): string;
  /** The address of a page below the one of a repository. */
  pageUrl(repositoryUrl: string, page: string): string;
  client(address: HostAddress): HostClient;
  statuses: StatusHost;
  /** Milliseconds between two statuses, where the host asks for it. */
  statusGapMs: number;
  /** Whether the host keeps the statuses of a commit apart for each branch and tag that has it. */
  keepsRefsApart: boolean;
  /** What an App tells in the place of statuses; null for a host without Apps like those of GitHub. */
  app: { statuses: StatusHost } | null;
}

/** Where the API of a host is, and the token that it takes. */
export interface HostAddress {
  apiUrl: string;
  token: string;
}

/** Whom the host takes the token for. `scopes` are the host's words; null where it does not tell them. */
interface HostAccount {
  name: string;
  scopes: string[] | null;
}

/** A repository as the host tells of it. `id` stays the same when it is renamed. */
export interface RepositoryAtHost {
  id: number;
  fullName: string;
  defaultBranch: string | null;
  isPrivate: boolean;
}

export type RepositoryName = Pick<RepositoryAtHost, "id" | "fullName">;

/** A hook as the host has it. `trouble` says why the host does not send to it, in our words. */
export interface HostHook {
  id: string;
  url: string;
  trouble: string | null;
}

/** What a hook is made with. */
export interface HookSettings {
  url: string;
  secret: string;
}

/** What the service asks a git host for a connection. Each call may throw a `HostProblem`, and nothing else. */
export interface HostReader {
  account(): Promise<HostAccount>;
  /** The page with this number, from 1: fewer than `limit` on the last one. */
  repositories(page: number, limit: number): Promise<RepositoryAtHost[]>;
  repositoryById(id: number): Promise<RepositoryAtHost>;
  repositoryByName(fullName: string): Promise<RepositoryAtHost>;
  /** What the service does that these scopes do not allow, as a sentence each. */
  missing(scopes: string[] | null): string[];
}

/** Manages the hooks of single repositories too: an App has one hook for all. */
export interface HostClient extends HostReader {
  hooks(repository: RepositoryName): Promise<HostHook[]>;
  /** @returns the hook's id */
  createHook(repository: RepositoryName, hook: HookSettings): Promise<string>;
  updateHook(repository: RepositoryName, id: string, hook: HookSettings): Promise<void>;
  deleteHook(repository: RepositoryName, id: string): Promise<void>;
}

/** How a git host is told a status. */
export interface StatusHost {
  request(status: Status, token: string): HostRequest;
  outcome(answer: HostAnswer, now: number, status: Status): StatusOutcome;
  /** Looks for what the host made without saying so, where a status has an id; absent where it has none. */
  find?: {
    request(status: Status, token: string): HostRequest;
    newest(answer: HostResponse, status: Status): number | null;
  };
  /** Asks for a repository by its id; null where a status names the id anyway. */
  repository: ((repoId: number, token: string) => HostRequest) | null;
}
