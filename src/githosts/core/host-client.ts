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

/** Where the API of a host is, and the token that it takes. */
export interface HostAddress {
  apiUrl: string;
  token: string;
}
