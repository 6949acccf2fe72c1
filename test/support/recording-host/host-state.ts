import type { HostKind } from "../../../src/protocol/connection.ts";

/** A repository at the recording host. `formerNames` redirect to it. */
export interface HostedRepository {
  id: number;
  fullName: string;
  defaultBranch?: string;
  isPrivate?: boolean;
  formerNames?: string[];
}

/** What goes wrong with requests whose `METHOD path` begins so. */
export interface HostFault {
  on: string;
  /** A status, or: a page for people, a redirect to another host or to itself, 10 MB, no answer at all. */
  answer: number | "html" | "elsewhere" | "loop" | "large" | "never";
  headers?: Record<string, string>;
  body?: string;
  /** How often; always where it is left out. */
  times?: number;
}

/** How a recording host is furnished. */
export interface HostSettings {
  kind: HostKind;
  token: string;
  account?: string;
  /** What the host tells of the token; null where it tells nothing. */
  scopes?: string[] | null;
  mayManageHooks?: boolean;
  repositories?: HostedRepository[];
  faults?: HostFault[];
}

/** A request as it came in. */
export interface Recorded {
  method: string;
  /** Below the address of the API, without the query. */
  path: string;
  query: string;
  headers: Record<string, string>;
  body: unknown;
  /** What is wrong with it by the description of the host's API. */
  problems: string[];
}

/** A hook as it was registered. */
export interface HostedHook {
  id: number;
  repositoryId: number;
  url: string;
  secret: string;
  events: string[];
}

/** A state of a commit as it was posted. */
export interface PostedStatus {
  repositoryId: number;
  sha: string;
  body: Record<string, unknown>;
}
