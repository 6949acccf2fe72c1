import type { HostKind } from "../../../src/protocol/connection.ts";

/** A repository at the recording host. `formerNames` redirect to it. */
export interface HostedRepository {
  id: number;
  fullName: string;
  defaultBranch?: string;
  isPrivate?: boolean;
  formerNames?: string[];
}

/** A fault for requests whose `METHOD path` begins this way. */
export interface HostFault {
  on: string;
  /** A status, or: a page for people, a redirect to another host or to itself, 10 MB, no answer at all. */
  answer: number | "html" | "elsewhere" | "loop" | "large" | "never";
  headers?: Record<string, string>;
  body?: string;
  /** How often; always by default. */
  times?: number;
}

/** A GitHub App at the recording host. */
export interface HostedApp {
  id: number;
  clientId: string;
  /** PEM. */
  publicKey: string;
  /** Where it is installed; nowhere if absent. */
  installationId?: number;
  account?: string;
  permissions?: Record<string, string>;
  /** Numbers of the repositories for which it is installed; all of the host if absent. */
  sees?: number[];
  /** Whether git hides its repositories from tokens in the format of April 2026. */
  gitTakesClassicOnly?: boolean;
  /** How long its tokens live. */
  tokenMs?: number;
  /** Whether its clock does not matter, because tests advance the service's. */
  isAnyTime?: boolean;
  /** The result of a manifest's code, once: the private key as PEM. */
  made?: { code: string; key: string };
}

/** A token that the host issued to an App, and the request for it. */
export interface MintedToken {
  token: string;
  body: { repository_ids?: number[]; permissions?: Record<string, string> };
  isClassic: boolean;
}

/** GitHub's attempt to deliver to the App. */
export interface HostedAttempt {
  id: number;
  guid: string;
  delivered_at: string;
  redelivery: boolean;
  status: string;
  status_code: number;
  event: string;
  action: string | null;
  repository_id: number | null;
  payload: object;
}

/** A check run, with its changes. `bodies` are the requests; the first one created it. */
export interface HostedCheckRun {
  id: number;
  repositoryId: number;
  sha: string;
  body: Record<string, unknown>;
  bodies: Record<string, unknown>[];
}

/** An external job of a pipeline. GitLab has a pipeline for each commit and ref. */
export interface HostedJob {
  pipeline: number;
  repositoryId: number;
  sha: string;
  ref: string;
  name: string;
  status: string;
}

/** The settings of a recording host. */
export interface HostSettings {
  kind: HostKind;
  token: string;
  account?: string;
  /** The scopes that the host reports for the token; null if it reports none. */
  scopes?: string[] | null;
  mayManageHooks?: boolean;
  repositories?: HostedRepository[];
  faults?: HostFault[];
  /** How many changing requests it processes without answering properly. */
  loses?: number;
  app?: HostedApp | null;
  /** Newest first. */
  attempts?: HostedAttempt[];
  /** People's permissions by login: a permission, or the name of a role. */
  people?: Record<string, string>;
}

/** A request as received. */
export interface Recorded {
  method: string;
  /** Below the address of the API, without the query. */
  path: string;
  query: string;
  headers: Record<string, string>;
  body: unknown;
  /** Its violations of the description of the host's API. */
  problems: string[];
}

/** A hook as registered. */
export interface HostedHook {
  id: number;
  repositoryId: number;
  url: string;
  secret: string;
  events: string[];
}

/** A state of a commit as posted. */
export interface PostedStatus {
  repositoryId: number;
  sha: string;
  body: Record<string, unknown>;
}
